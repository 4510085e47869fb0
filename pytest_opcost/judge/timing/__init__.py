"""What can only be compared up to noise. The rooms of the judge that calculate: numpy is loaded with them."""
