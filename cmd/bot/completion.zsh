_cairn() {
	local -a found
	found=("${(@f)$("${words[1]}" complete -- "${(@)words[2,$CURRENT]}")}")
	found=("${(@)found:#}")
	if (( $#found )); then
		compadd -- "${found[@]}"
	else
		_files
	fi
}
compdef _cairn cairn
