from trivium.doors.client import Client as Client
from trivium.doors.client import ToolFailed as ToolFailed
from trivium.doors.client import adapt_legacy_response as adapt_legacy_response
