function __cairn_complete
	set -l typed (commandline -opc)
	$typed[1] complete -- $typed[2..-1] (commandline -ct)
end
complete -c cairn -a '(__cairn_complete)'
