# Shows the active version of a downloads folder. Godot 4: add this as a script to a Node of your scene.
#
# `version_active` is emitted with the folder of each version that becomes active. Its receiver loads everything first, then
# shows it, and calls `shown`, which keeps the version on disk.
extends Node

signal version_active(version_id, folder)

@export var downloads := "C:/Exhibit/downloads"
@export var consumer_id := "screen-1"

const RENEW_EVERY := 600.0

var offered := ""
var acknowledged := ""

func _ready() -> void:
	every(2.0, poll)
	every(RENEW_EVERY, acknowledge)
	poll()

func every(seconds: float, action: Callable) -> void:
	var timer := Timer.new()
	timer.wait_time = seconds
	timer.autostart = true
	timer.timeout.connect(action)
	add_child(timer)

func poll() -> void:
	var manifest = read_json(downloads.path_join("manifest.json"))
	if manifest is Dictionary and manifest.get("versionId", "") != offered:
		offered = manifest["versionId"]
		version_active.emit(offered, downloads.path_join(manifest["versionPath"]))

# The saved table; null if it cannot be read.
func read_json(path: String) -> Variant:
	var file := FileAccess.open(path, FileAccess.READ)
	return null if file == null else JSON.parse_string(file.get_as_text())

func shown(version_id: String) -> void:
	acknowledged = version_id
	acknowledge()

# The version could not be shown: the next read emits it again.
func failed() -> void:
	offered = acknowledged

func acknowledge() -> void:
	if acknowledged == "":
		return
	var file := FileAccess.open(downloads.path_join("acks/" + consumer_id + ".json"), FileAccess.WRITE)
	if file != null:
		file.store_string(JSON.stringify({"versionId": acknowledged}))
