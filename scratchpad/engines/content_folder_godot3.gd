# Shows the active version of a downloads folder. Godot 3: add this as a script to a Node of your scene.
#
# `version_active` is emitted with the folder of each version that becomes active. Its receiver loads everything first, then
# shows it, and calls `shown`, which keeps the version on disk.
extends Node

signal version_active(version_id, folder)

export var downloads := "C:/Exhibit/downloads"
export var consumer_id := "screen-1"

const RENEW_EVERY := 600.0

var offered := ""
var acknowledged := ""

func _ready() -> void:
	every(2.0, "poll")
	every(RENEW_EVERY, "acknowledge")
	poll()

func every(seconds: float, action: String) -> void:
	var timer := Timer.new()
	timer.wait_time = seconds
	timer.autostart = true
	timer.connect("timeout", self, action)
	add_child(timer)

func poll() -> void:
	var manifest = read_json(downloads.plus_file("manifest.json"))
	if manifest is Dictionary and manifest.get("versionId", "") != offered:
		offered = manifest["versionId"]
		emit_signal("version_active", offered, downloads.plus_file(manifest["versionPath"]))

# The saved table; null if it cannot be read.
func read_json(path: String):
	var file := File.new()
	if file.open(path, File.READ) != OK:
		return null
	return JSON.parse(file.get_as_text()).result

func shown(version_id: String) -> void:
	acknowledged = version_id
	acknowledge()

# The version could not be shown: the next read emits it again.
func failed() -> void:
	offered = acknowledged

func acknowledge() -> void:
	if acknowledged == "":
		return
	var file := File.new()
	if file.open(downloads.plus_file("acks/" + consumer_id + ".json"), File.WRITE) == OK:
		file.store_string(JSON.print({"versionId": acknowledged}))
		file.close()
