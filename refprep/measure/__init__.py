"""Audio and text -> everything the rules read, measured once and remembered by content."""
