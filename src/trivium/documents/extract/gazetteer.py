"""Names everybody knows: what they are, what else they are called, and whose they are.

Small on purpose. It fills gaps the model leaves, joins names whose letters have nothing in common (AWS, IBM), and never
overrules what the model is sure of.
"""

import re
from functools import cache

from trivium.documents.extract.names import compact
from trivium.model.vendor import EntityType

# company: other names it goes by
ORGANISATIONS: dict[str, tuple[str, ...]] = {
    "Adobe": (),
    "Airbnb": (),
    "Alibaba": ("Alibaba Group",),
    "Alphabet": (),
    "Amazon": ("Amazon.com",),
    "Amazon Web Services": ("AWS",),
    "AMD": ("Advanced Micro Devices",),
    "Anthropic": (),
    "Apache Software Foundation": ("ASF",),
    "Apple": ("Apple Computer",),
    "ARM": ("Arm Holdings",),
    "Agence France-Presse": ("AFP",),
    "Associated Press": (),
    "Atlassian": (),
    "Automattic": (),
    "Bloomberg": (),
    "Boeing": (),
    "Broadcom": (),
    "Canonical": (),
    "Cisco": ("Cisco Systems",),
    "Cloudflare": (),
    "Cloud Native Computing Foundation": ("CNCF",),
    "Confluent": (),
    "Databricks": (),
    "Datadog": (),
    "DeepMind": ("Google DeepMind",),
    "Dell": ("Dell Technologies",),
    "DigitalOcean": (),
    "Docker": (),
    "eBay": (),
    "Elastic": ("Elasticsearch B.V.",),
    "Ericsson": (),
    "Facebook": (),
    "Ford": ("Ford Motor Company",),
    "Fujitsu": (),
    "General Electric": ("GE",),
    "General Motors": ("GM",),
    "GitHub": (),
    "GitLab": (),
    "Google": (),
    "Grafana Labs": (),
    "HashiCorp": (),
    "Hewlett Packard Enterprise": ("HPE",),
    "Hewlett-Packard": ("HP",),
    "Hitachi": (),
    "Honda": (),
    "Huawei": (),
    "IBM": ("International Business Machines",),
    "IKEA": (),
    "Intel": (),
    "Interfax": ("INTERFAX",),
    "JetBrains": (),
    "Lenovo": (),
    "LG": ("LG Electronics",),
    "LinkedIn": (),
    "Linux Foundation": (),
    "Lockheed Martin": (),
    "Mastercard": (),
    "Meta": ("Meta Platforms",),
    "Microsoft": ("MSFT",),
    "Mitsubishi": (),
    "MongoDB Inc": (),
    "Mozilla": ("Mozilla Foundation", "Mozilla Corporation"),
    "NASA": (),
    "NEC": (),
    "Netflix": (),
    "New Relic": (),
    "Nintendo": (),
    "Nokia": (),
    "NVIDIA": (),
    "OpenAI": (),
    "Oracle": (),
    "PagerDuty": (),
    "Panasonic": (),
    "PayPal": (),
    "Philips": (),
    "PostHog": (),
    "Qualcomm": (),
    "Red Hat": (),
    "Renault": (),
    "Rolls-Royce": (),
    "Salesforce": ("Salesforce.com",),
    "Samsung": ("Samsung Electronics",),
    "SAP": (),
    "ServiceNow": (),
    "Shopify": (),
    "Siemens": (),
    "Slack Technologies": (),
    "Snowflake": (),
    "Sony": (),
    "SpaceX": (),
    "Spotify": (),
    "Stripe": (),
    "Sun Microsystems": (),
    "SUSE": (),
    "Tencent": (),
    "Tesla": (),
    "Texas Instruments": (),
    "Toshiba": (),
    "Toyota": (),
    "Twilio": (),
    "Twitter": (),
    "Uber": (),
    "Volkswagen": ("VW",),
    "VMware": (),
    "Walmart": (),
    "World Health Organization": ("WHO",),
    "Xerox": (),
    "Yahoo": (),
    "YouTube": (),
    "Zoom Video Communications": (),
}

# product: whose it is, where that is one company
PRODUCTS: dict[str, str] = {
    "Android": "Google",
    "Chrome": "Google",
    "Gmail": "Google",
    "Google Maps": "Google",
    "BigQuery": "Google",
    "Chromebook": "Google",
    "Google Cloud Platform": "Google",
    "TensorFlow": "Google",
    "Flutter": "Google",
    "Pixel": "Google",
    "iPhone": "Apple",
    "iPad": "Apple",
    "MacBook": "Apple",
    "MacBook Pro": "Apple",
    "iOS": "Apple",
    "macOS": "Apple",
    "iTunes": "Apple",
    "Apple Watch": "Apple",
    "AirPods": "Apple",
    "Siri": "Apple",
    "Xcode": "Apple",
    "Safari": "Apple",
    "Windows": "Microsoft",
    "Azure": "Microsoft",
    "Microsoft Azure": "Microsoft",
    "Microsoft Office": "Microsoft",
    "Office 365": "Microsoft",
    "Microsoft 365": "Microsoft",
    "Visual Studio Code": "Microsoft",
    "VS Code": "Microsoft",
    "Xbox": "Microsoft",
    "Xbox One": "Microsoft",
    "SQL Server": "Microsoft",
    "SharePoint": "Microsoft",
    "Power BI": "Microsoft",
    "PowerShell": "Microsoft",
    "Microsoft Teams": "Microsoft",
    "Windows 10": "Microsoft",
    "Windows 11": "Microsoft",
    "Windows Server": "Microsoft",
    "Dynamics 365": "Microsoft",
    "Surface Pro": "Microsoft",
    "Microsoft Word": "Microsoft",
    "Microsoft Excel": "Microsoft",
    "Outlook": "Microsoft",
    "OneDrive": "Microsoft",
    "Amazon S3": "Amazon Web Services",
    "Amazon EC2": "Amazon Web Services",
    "AWS Lambda": "Amazon Web Services",
    "DynamoDB": "Amazon Web Services",
    "Amazon RDS": "Amazon Web Services",
    "Redshift": "Amazon Web Services",
    "Kindle": "Amazon",
    "Alexa": "Amazon",
    "PlayStation": "Sony",
    "PlayStation 4": "Sony",
    "PlayStation 5": "Sony",
    "PS4": "Sony",
    "Nintendo Switch": "Nintendo",
    "Wii": "Nintendo",
    "Galaxy S23": "Samsung",
    "Samsung Galaxy": "Samsung",
    "Model 3": "Tesla",
    "Model S": "Tesla",
    "Falcon 9": "SpaceX",
    "Starlink": "SpaceX",
    "ChatGPT": "OpenAI",
    "GPT-4": "OpenAI",
    "GPT-3": "OpenAI",
    "Codex": "OpenAI",
    "Claude": "Anthropic",
    "Photoshop": "Adobe",
    "Adobe Photoshop": "Adobe",
    "Adobe Acrobat": "Adobe",
    "Illustrator": "Adobe",
    "Jira": "Atlassian",
    "Confluence": "Atlassian",
    "Bitbucket": "Atlassian",
    "Trello": "Atlassian",
    "Terraform": "HashiCorp",
    "Consul": "HashiCorp",
    "Ubuntu": "Canonical",
    "OpenShift": "Red Hat",
    "Red Hat Enterprise Linux": "Red Hat",
    "Ansible": "Red Hat",
    "Oracle Database": "Oracle",
    "MySQL": "Oracle",
    "VirtualBox": "Oracle",
    "SAP HANA": "SAP",
    "S/4HANA": "SAP",
    "vSphere": "VMware",
    "Elasticsearch": "Elastic",
    "Kibana": "Elastic",
    "Logstash": "Elastic",
    "MongoDB": "MongoDB Inc",
    "Grafana": "Grafana Labs",
    "Firefox": "Mozilla",
    "Thunderbird": "Mozilla",
    "PyCharm": "JetBrains",
    "IntelliJ IDEA": "JetBrains",
    "GeForce": "NVIDIA",
    "CUDA": "NVIDIA",
    "WhatsApp": "Meta",
    "Instagram": "Meta",
    "PyTorch": "Meta",
    "Apache Kafka": "Apache Software Foundation",
    "Apache Spark": "Apache Software Foundation",
    "Apache Tomcat": "Apache Software Foundation",
    "Kafka": "Apache Software Foundation",
    "Docker Desktop": "Docker",
    "Sales Cloud": "Salesforce",
    "Tableau": "Salesforce",
    "Slack": "Slack Technologies",
    "Tegra": "NVIDIA",
    "Kubernetes": "",
    "PostgreSQL": "",
    "Postgres": "",
    "Redis": "",
    "SQLite": "",
    "MariaDB": "",
    "Linux": "",
    "Debian": "",
    "Fedora": "",
    "CentOS": "",
    "Node.js": "",
    "Django": "",
    "FastAPI": "",
    "React": "",
    "Vue.js": "",
    "Angular": "",
    "Prometheus": "",
    "Helm": "",
    "Git": "",
    "Jenkins": "",
    "ClickHouse": "",
    "Cassandra": "",
    "RabbitMQ": "",
    "GraphQL": "",
    "WordPress": "",
    "OpenStack": "",
    "Nginx": "",
    "NGINX": "",
    "etcd": "",
    "Istio": "",
    "Envoy": "",
    "containerd": "",
    "Zapier": "",
    "HubSpot": "",
    "Zendesk": "",
}

_PLACES = (
    "Afghanistan|Albania|Algeria|Argentina|Armenia|Australia|Austria|Bangladesh|Belarus|Belgium|Bolivia|Bosnia|Brazil|Bulgaria|Cambodia"
    "|Cameroon|Canada|Chile|China|Colombia|Costa Rica|Croatia|Cuba|Cyprus|Czech Republic|Denmark|Ecuador|Egypt|England|Estonia|Ethiopia"
    "|Finland|France|Germany|Ghana|Greece|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Jamaica|Japan|Kazakhstan|Kenya"
    "|Kuwait|Latvia|Lebanon|Libya|Lithuania|Luxembourg|Malaysia|Malta|Mexico|Moldova|Mongolia|Morocco|Myanmar|Nepal|Netherlands"
    "|New Zealand|Nigeria|North Korea|Norway|Pakistan|Panama|Peru|Philippines|Poland|Portugal|Qatar|Romania|Russia|Saudi Arabia|Scotland"
    "|Senegal|Serbia|Singapore|Slovakia|Slovenia|Somalia|South Africa|South Korea|Spain|Sri Lanka|Sudan|Sweden|Switzerland|Syria|Taiwan"
    "|Tanzania|Thailand|Tunisia|Turkey|Uganda|Ukraine|United Arab Emirates|United Kingdom|United States|Uruguay|Uzbekistan|Venezuela"
    "|Vietnam|Wales|Yemen|Zimbabwe|USA|Europe|Africa|Asia|Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Florida|Hawaii"
    "|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana"
    "|Nebraska|Nevada|New Jersey|New Mexico|North Carolina|Ohio|Oklahoma|Oregon|Pennsylvania|South Carolina|Tennessee|Texas|Utah|Vermont"
    "|Virginia|Wisconsin|Wyoming|London|Paris|Berlin|Munich|Hamburg|Frankfurt|Vienna|Zurich|Geneva|Madrid|Barcelona|Lisbon|Rome|Milan"
    "|Amsterdam|Rotterdam|Brussels|Dublin|Edinburgh|Manchester|Copenhagen|Stockholm|Oslo|Helsinki|Warsaw|Prague|Budapest|Athens|Istanbul"
    "|Moscow|Kyiv|Tokyo|Osaka|Seoul|Beijing|Shanghai|Shenzhen|Hong Kong|Taipei|Bangkok|Jakarta|Manila|Kuala Lumpur|Mumbai|Delhi|New Delhi"
    "|Bangalore|Hyderabad|Chennai|Sydney|Melbourne|Toronto|Vancouver|Montreal|New York|New York City|Los Angeles|San Francisco|San Jose"
    "|San Diego|Seattle|Boston|Chicago|Houston|Dallas|Austin|Denver|Miami|Atlanta|Philadelphia|Detroit|Las Vegas|Silicon Valley"
    "|Mountain View|Palo Alto|Redmond|Cupertino|Tel Aviv|Jerusalem|Dubai|Cairo|Lagos|Nairobi|Johannesburg|Cape Town|Mexico City|Bogotá"
    "|Buenos Aires|São Paulo|Rio de Janeiro"
)


@cache
def known_types() -> dict[str, EntityType]:
    """Spelling -> type."""
    known: dict[str, EntityType] = dict.fromkeys(_PLACES.split("|"), "LOCATION")
    known |= dict.fromkeys(PRODUCTS, "PRODUCT")
    for name, others in ORGANISATIONS.items():
        known |= dict.fromkeys((name, *others), "ORG")
    return known


@cache
def pattern() -> re.Pattern[str]:
    """Every spelling, longest first, as whole words."""
    names = sorted(known_types(), key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])")


@cache
def other_names() -> dict[str, str]:
    """Compact spelling of another name -> the name it stands for."""
    return {compact(other): name for name, others in ORGANISATIONS.items() for other in others}


@cache
def makers() -> dict[str, str]:
    """Compact product name -> compact maker's name."""
    return {compact(product): compact(maker) for product, maker in PRODUCTS.items() if maker}
