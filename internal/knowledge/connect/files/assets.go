package files

import (
	"path"
	"strings"
)

// assetExtensions are the files that are no documents, by their extensions and with the name
// that they are counted under. They go by their names alone, and are not opened.
var assetExtensions = byExtension(map[string][]string{
	"images": {
		".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".psd", ".drawio", ".excalidraw",
	},
	"fonts":           {".woff", ".woff2", ".ttf", ".otf", ".eot"},
	"sound and video": {".mp3", ".mp4", ".mov", ".avi", ".mkv", ".webm", ".wav", ".ogg", ".flac", ".m4a"},
	"archives":        {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".jar", ".whl"},
	"programs and data": {
		".exe", ".dll", ".so", ".dylib", ".a", ".o", ".class", ".pyc", ".wasm", ".bin", ".db", ".sqlite", ".lock", ".sum", ".map",
	},
	"source code and configuration": {
		".go", ".py", ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rs", ".rb",
		".php", ".swift", ".scala", ".lua", ".pl", ".r", ".sql", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".css", ".scss",
		".less", ".vue", ".svelte", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".xml", ".proto",
		".tf", ".hcl", ".mod", ".gradle", ".properties", ".tpl", ".tmpl", ".patch", ".diff",
	},
})

func byExtension(classes map[string][]string) map[string]string {
	reasons := make(map[string]string)
	for reason, extensions := range classes {
		for _, extension := range extensions {
			reasons[extension] = reason
		}
	}
	return reasons
}

// AssetKind says under which name a file is passed over that is no document by its extension; ""
// for all others.
func AssetKind(name string) string { return assetExtensions[strings.ToLower(path.Ext(name))] }
