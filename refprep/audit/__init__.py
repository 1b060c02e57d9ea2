"""What precision choices do to a reference: the same clip through rounded encoders, generators and decoders.

Start at ``matrix.run_audit``. Nothing here makes codes that a voice keeps: the normal encoders are float32 and take no
option, and the copies that are rounded, or broken on purpose, live and end in here.
"""
