#compdef cairn
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
# From a folder of completions zsh runs this file for the first word to complete.
if [[ ${funcstack[1]-} == _cairn ]]; then
	_cairn "$@"
else
	compdef _cairn cairn
fi
