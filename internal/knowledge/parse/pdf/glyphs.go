package pdf

import "strings"

// glyphNames are the names that fonts of Latin script give to their characters.
var glyphNames = namedGlyphs(`
exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' quoteright ’ quoteleft ‘
parenleft ( parenright ) asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2 three 3
four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @
bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~
exclamdown ¡ cent ¢ sterling £ fraction ⁄ yen ¥ florin ƒ section § currency ¤ quotedblleft “ quotedblright ”
guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › ff ff fi fi fl fl ffi ffi ffl ffl endash – emdash —
dagger † daggerdbl ‡ periodcentered · paragraph ¶ bullet • quotesinglbase ‚ quotedblbase „ ellipsis … perthousand ‰
questiondown ¿ acute ´ circumflex ˆ tilde ˜ macron ¯ breve ˘ dotaccent ˙ dieresis ¨ ring ˚ cedilla ¸ hungarumlaut ˝
ogonek ˛ caron ˇ AE Æ ordfeminine ª Lslash Ł Oslash Ø OE Œ ordmasculine º ae æ dotlessi ı lslash ł oslash ø oe œ
germandbls ß onesuperior ¹ twosuperior ² threesuperior ³ onehalf ½ onequarter ¼ threequarters ¾ degree ° copyright ©
registered ® trademark ™ brokenbar ¦ logicalnot ¬ plusminus ± multiply × divide ÷ mu µ eth ð Eth Ð thorn þ Thorn Þ
Euro € Agrave À Aacute Á Acircumflex Â Atilde Ã Adieresis Ä Aring Å Ccedilla Ç Egrave È Eacute É Ecircumflex Ê
Edieresis Ë Igrave Ì Iacute Í Icircumflex Î Idieresis Ï Ntilde Ñ Ograve Ò Oacute Ó Ocircumflex Ô Otilde Õ Odieresis Ö
Ugrave Ù Uacute Ú Ucircumflex Û Udieresis Ü Yacute Ý Ydieresis Ÿ agrave à aacute á acircumflex â atilde ã adieresis ä
aring å ccedilla ç egrave è eacute é ecircumflex ê edieresis ë igrave ì iacute í icircumflex î idieresis ï ntilde ñ
ograve ò oacute ó ocircumflex ô otilde õ odieresis ö ugrave ù uacute ú ucircumflex û udieresis ü yacute ý ydieresis ÿ
Scaron Š scaron š Zcaron Ž zcaron ž Ccaron Č ccaron č Rcaron Ř rcaron ř Ecaron Ě ecaron ě Aogonek Ą aogonek ą
Eogonek Ę eogonek ę Cacute Ć cacute ć Nacute Ń nacute ń Sacute Ś sacute ś Zacute Ź zacute ź Zdotaccent Ż zdotaccent ż
arrowleft ← arrowright → arrowup ↑ arrowdown ↓ lessequal ≤ greaterequal ≥ notequal ≠ approxequal ≈ infinity ∞
alpha α beta β gamma γ delta δ epsilon ε lambda λ pi π rho ρ sigma σ tau τ phi φ omega ω Delta Δ Sigma Σ Omega Ω
partialdiff ∂ summation ∑ product ∏ radical √ integral ∫ element ∈ sfthyphen -
`)

func namedGlyphs(table string) map[string]string {
	names := map[string]string{"space": " ", "nbspace": " "}
	fields := strings.Fields(table)
	for i := 0; i+1 < len(fields); i += 2 {
		names[fields[i]] = fields[i+1]
	}
	return names
}
