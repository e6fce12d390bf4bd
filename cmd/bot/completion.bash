_cairn() {
	local IFS=$'\n'
	COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:$COMP_CWORD}"))
}
complete -F _cairn cairn
