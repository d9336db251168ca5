"""What programs are made of: few names, so that things meet, and the odd values that have told bridges apart."""
