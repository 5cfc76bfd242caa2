"""Words for peoples, languages and faiths. They are written with capitals but name neither a place nor a company:
"the French supplier" is about a supplier. Alone or joined (Franco-German) they are no mention."""

import re
from functools import cache

_PEOPLES = """
Abkhaz Aboriginal Afghan African Akkadian Albanian Algerian Alsatian American Amerindian Anatolian Andalusian Andorran
Angolan Arab Arabian Arabic Aramaic Argentine Argentinean Argentinian Armenian Asian Assyrian Australian Austrian
Aztec Azerbaijani Azeri Babylonian Bahamian Bahraini Balinese Baltic Bangladeshi Barbadian Basque Bavarian Belarusian
Belgian Belizean Bengali Beninese Berber Bhutanese Bohemian Bolivian Bosnian Botswanan Brazilian Breton Briton British
Bruneian Bulgarian Burgundian Burkinabe Burmese Burundian Byzantine Californian Cambodian Cameroonian Canadian
Cantonese Carib Castilian Catalan Caucasian Celt Celtic Chadian Chechen Chilean Chinese Colombian Congolese Cornish
Corsican Cossack Creole Crimean Croat Croatian Cuban Cypriot Czech Czechoslovak Czechoslovakian Dane Danish Djiboutian
Dominican Dutch Ecuadoran Ecuadorean Ecuadorian Egyptian Emirati English Englishman Eritrean Estonian Ethiopian
Eurasian European Fijian Filipino Finn Finnish Flemish Franco French Frenchman Frisian Gabonese Gaelic Galician
Gambian Georgian German Germanic Ghanaian Gibraltarian Greek Greenlandic Grenadian Guatemalan Guinean Guyanese Gypsy
Haitian Hawaiian Hebrew Hellenic Hindi Hispanic Honduran Hungarian Iberian Icelander Icelandic Inca Indian Indo
Indonesian Inuit Iranian Iraqi Irish Irishman Israeli Italian Ivorian Jamaican Japanese Javanese Jordanian Kazakh
Kenyan Khmer Korean Kosovan Kosovar Kurd Kurdish Kuwaiti Kyrgyz Lao Laotian Latin Latino Latvian Lebanese Liberian
Libyan Lithuanian Lombard Luxembourgish Macedonian Malagasy Malawian Malay Malaysian Maldivian Malian Maltese Mandarin
Maori Mauritanian Mauritian Maya Mayan Mesopotamian Mexican Micronesian Milanese Moldavian Moldovan Mongol Mongolian
Montenegrin Moor Moorish Moravian Moroccan Mozambican Namibian Neapolitan Nepalese Nepali Nicaraguan Nigerian Nigerien
Nordic Norman Norse Norwegian Occitan Omani Ottoman Pakistani Palestinian Panamanian Parisian Parthian Persian
Peruvian Phoenician Pole Polish Polynesian Portuguese Prussian Punjabi Qatari Quechua Roma Roman Romani Romanian
Russian Rwandan Sami Samoan Sanskrit Sardinian Saudi Saxon Scandinavian Scot Scotsman Scottish Scythian Senegalese
Serb Serbian Serbo Siberian Sicilian Sikh Singaporean Sinhalese Sino Slav Slavic Slavonic Slovak Slovakian Slovene
Slovenian Somali Spaniard Spanish Sudanese Sumerian Surinamese Swahili Swede Swedish Swiss Syrian Tahitian Taiwanese
Tajik Tamil Tanzanian Tasmanian Tatar Teutonic Texan Thai Tibetan Timorese Togolese Tongan Transylvanian Trinidadian
Tuareg Tunisian Turk Turkic Turkish Turkmen Tuscan Ugandan Uighur Ukrainian Urdu Uruguayan Uyghur Uzbek Venetian
Venezuelan Vietnamese Viking Visigoth Walloon Welsh Welshman Yemeni Yemenite Yiddish Yoruba Yugoslav Yugoslavian
Zambian Zimbabwean Zulu Anglican Baptist Buddhism Buddhist Calvinist Catholic Catholicism Christian Christianity
Confucian Hindu Hinduism Islam Islamic Jesuit Jew Jewish Judaism Lutheran Methodist Mormon Muslim Orthodox
Presbyterian Protestant Quaker Shia Shiite Sunni
"""
_JOINTS = re.compile(r"[-–/\s]+(?:and\s+)?")


@cache
def _words() -> frozenset[str]:
    singular = {word.casefold() for word in _PEOPLES.split()}
    return frozenset(singular | {f"{word}s" for word in singular})


def names_people(text: str) -> bool:
    """Whether the text is nothing but words for peoples, languages or faiths."""
    parts = [part for part in _JOINTS.split(text.removeprefix("the ").strip()) if part]
    return bool(parts) and all(part.casefold() in _words() for part in parts)
