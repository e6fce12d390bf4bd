package helpers // want "a package is named for what it does"
