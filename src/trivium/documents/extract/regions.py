"""Countries, and states and provinces with their usual abbreviations: what a town can lie in."""

from functools import cache

_COUNTRIES = """
Afghanistan|Albania|Algeria|Andorra|Angola|Argentina|Armenia|Australia|Austria|Azerbaijan|Bahamas|Bahrain|Bangladesh
Barbados|Belarus|Belgium|Belize|Benin|Bhutan|Bolivia|Bosnia|Bosnia and Herzegovina|Botswana|Brazil|Britain
Great Britain|Brunei|Bulgaria|Burkina Faso|Burma|Burundi|Cambodia|Cameroon|Canada|Cape Verde|Chad|Chile|China|Colombia
Congo|Costa Rica|Croatia|Cuba|Cyprus|Czech Republic|Czechia|Czechoslovakia|Denmark|Djibouti|Dominican Republic
East Germany|Ecuador|Egypt|El Salvador|England|Eritrea|Estonia|Ethiopia|Fiji|Finland|France|Gabon|Gambia|Germany|Ghana
Greece|Greenland|Grenada|Guatemala|Guinea|Guyana|Haiti|Honduras|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland
Israel|Italy|Ivory Coast|Jamaica|Japan|Kazakhstan|Kenya|Kosovo|Kuwait|Kyrgyzstan|Laos|Latvia|Lebanon|Lesotho|Liberia
Libya|Liechtenstein|Lithuania|Luxembourg|Macedonia|Madagascar|Malawi|Malaysia|Maldives|Mali|Malta|Mauritania|Mauritius
Mexico|Moldova|Monaco|Mongolia|Montenegro|Morocco|Mozambique|Myanmar|Namibia|Nepal|Netherlands|New Zealand|Nicaragua
Niger|Nigeria|North Korea|Northern Ireland|Norway|Oman|Pakistan|Palestine|Panama|Papua New Guinea|Paraguay|Peru
Philippines|Poland|Portugal|Puerto Rico|Qatar|Romania|Russia|Rwanda|Samoa|Saudi Arabia|Scotland|Senegal|Serbia
Sierra Leone|Slovakia|Slovenia|Somalia|South Africa|South Korea|Korea|Soviet Union|Spain|Sri Lanka|Sudan|Suriname
Swaziland|Sweden|Switzerland|Syria|Taiwan|Tajikistan|Tanzania|Thailand|Togo|Trinidad and Tobago|Tunisia|Turkey
Turkmenistan|Uganda|Ukraine|United Arab Emirates|UAE|United Kingdom|UK|U.K.|United States|United States of America|US
U.S.|USA|U.S.A.|Uruguay|Uzbekistan|Venezuela|Vietnam|Wales|West Germany|Yemen|Yugoslavia|Zaire|Zambia|Zimbabwe
"""
_STATES = """
Alabama|Ala|AL|Alaska|AK|Arizona|Ariz|AZ|Arkansas|Ark|AR|California|Calif|CA|Colorado|Colo|CO|Connecticut|Conn|CT
Delaware|Del|DE|Florida|Fla|FL|Georgia|Ga|GA|Hawaii|HI|Idaho|ID|Illinois|Ill|IL|Indiana|Ind|IN|Iowa|IA|Kansas|Kan|KS
Kentucky|Ky|KY|Louisiana|La|LA|Maine|ME|Maryland|Md|MD|Massachusetts|Mass|MA|Michigan|Mich|MI|Minnesota|Minn|MN
Mississippi|Miss|MS|Missouri|Mo|MO|Montana|Mont|MT|Nebraska|Neb|NE|Nevada|Nev|NV|New Hampshire|N.H|NH|New Jersey|N.J
NJ|New Mexico|N.M|NM|New York|N.Y|NY|North Carolina|N.C|NC|North Dakota|N.D|ND|Ohio|OH|Oklahoma|Okla|OK|Oregon|Ore|OR
Pennsylvania|Pa|PA|Rhode Island|R.I|RI|South Carolina|S.C|SC|South Dakota|S.D|SD|Tennessee|Tenn|TN|Texas|Tex|TX|Utah
UT|Vermont|Vt|VT|Virginia|Va|VA|Washington|Wash|WA|West Virginia|W.Va|WV|Wisconsin|Wis|WI|Wyoming|Wyo|WY|D.C|DC
District of Columbia|Alberta|British Columbia|Manitoba|New Brunswick|Newfoundland|Nova Scotia|Ontario|Ont|Quebec
Saskatchewan|New South Wales|Queensland|Victoria|Tasmania|Western Australia|South Australia|Bavaria|Saxony|Hesse
Baden-Württemberg|North Rhine-Westphalia|Lower Saxony|Brandenburg|Thuringia|Catalonia|Andalusia|Lombardy|Tuscany
Sicily|Normandy|Brittany|Provence|Kerala|Karnataka|Maharashtra|Punjab|Gujarat|Tamil Nadu|Guangdong|Sichuan|Yunnan
Hubei
"""


@cache
def _ranks() -> dict[str, int]:
    ranks = {_key(name): 2 for line in _COUNTRIES.split("\n") for name in line.split("|") if name}
    return {_key(name): 1 for line in _STATES.split("\n") for name in line.split("|") if name} | ranks


def rank(name: str) -> int:
    """2 for a country, 1 for a part of one, 0 for everything else."""
    return _ranks().get(_key(name), 0)


def _key(name: str) -> str:
    return name.removeprefix("the ").removesuffix(".").rstrip().replace(". ", ".")
