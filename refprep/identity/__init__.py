"""Speaker verification: scores of one encoder, normalised and calibrated, and what follows from them."""
