// Shows the active version of a downloads folder: for openFrameworks 0.12 and any other C++17 with nlohmann's JSON, which
// openFrameworks has as ofJson.
//
//     void ofApp::update() { content.poll([&](auto id, auto folder) { objects = ofLoadJson(folder / "exhibits/Objects.json"); }); }
#pragma once
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

class ContentFolder {
public:
    // consumerId is a file name for this screen, the same at every start.
    ContentFolder(std::filesystem::path downloads, std::string consumerId)
        : downloads(std::move(downloads)), consumerId(std::move(consumerId)) {}

    using Show = std::function<void(const std::string& versionId, const std::filesystem::path& folder)>;

    // Calls show if another version is active. Call it each frame; it reads the manifest every two seconds. If show throws, the
    // version on the screen stays, and the next read calls show again.
    void poll(const Show& show) {
        const auto now = Clock::now();
        if (now < nextLook) return;
        nextLook = now + std::chrono::seconds(2);
        const auto shownBefore = shown;
        const auto problemBefore = problem;
        try {
            std::ifstream file(downloads / "manifest.json");
            if (!file) return;
            const auto manifest = nlohmann::json::parse(file);
            const std::string versionId = manifest.at("versionId");
            if (versionId != shown) {
                show(versionId, downloads / manifest.at("versionPath").get<std::string>());
                shown = versionId;
            }
            problem.clear();
        } catch (const std::exception& error) {
            problem = error.what();
            if (problem != problemBefore) std::cerr << problem << std::endl;
        }
        if (!shown.empty() && (shown != shownBefore || problem != problemBefore || now > renewAt)) {
            acknowledge();
            renewAt = now + std::chrono::minutes(10);
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    // Keeps the version on disk while it is shown, and reports a problem to the operator.
    void acknowledge() {
        std::error_code ignored;
        std::filesystem::create_directories(downloads / "acks", ignored);
        nlohmann::json lease = {{"versionId", shown}};
        if (!problem.empty()) lease["problem"] = problem.substr(0, 200);
        std::ofstream(downloads / "acks" / (consumerId + ".json")) << lease.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    }

    std::filesystem::path downloads;
    std::string consumerId;
    std::string shown;
    std::string problem;
    Clock::time_point nextLook{};
    Clock::time_point renewAt{};
};
