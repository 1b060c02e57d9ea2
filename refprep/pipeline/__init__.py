"""The stages, in the order of the picture in the README: one module, one public function."""
