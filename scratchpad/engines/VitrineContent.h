// Shows the active version of a downloads folder. Unreal Engine 5: add this to a module that depends on "Json", make one of it in an
// actor, and call Poll from its Tick.
#pragma once
#include "CoreMinimal.h"
#include "Dom/JsonObject.h"
#include "HAL/PlatformTime.h"
#include "Misc/FileHelper.h"
#include "Misc/Paths.h"
#include "Serialization/JsonReader.h"
#include "Serialization/JsonSerializer.h"

class FVitrineContent
{
public:
    // ConsumerId is a file name for this screen, the same at every start.
    FVitrineContent(const FString& InDownloads, const FString& InConsumerId)
        : Downloads(InDownloads), ConsumerId(InConsumerId) {}

    // Calls Show with id and folder if another version is active; it reads the manifest every two seconds. If Show returns false, the
    // version on the screen stays, and the next read calls Show again.
    void Poll(TFunctionRef<bool(const FString& VersionId, const FString& Folder)> Show)
    {
        const double Now = FPlatformTime::Seconds();
        if (Now < NextLook) return;
        NextLook = Now + 2.0;
        FString Text;
        TSharedPtr<FJsonObject> Manifest;
        if (!FFileHelper::LoadFileToString(Text, *FPaths::Combine(Downloads, TEXT("manifest.json"))) ||
            !FJsonSerializer::Deserialize(TJsonReaderFactory<>::Create(Text), Manifest) || !Manifest.IsValid())
        {
            return;
        }
        FString VersionId, VersionPath;
        const bool bIsNew = Manifest->TryGetStringField(TEXT("versionId"), VersionId) &&
            Manifest->TryGetStringField(TEXT("versionPath"), VersionPath) && VersionId != Shown &&
            Show(VersionId, FPaths::Combine(Downloads, VersionPath));
        if (bIsNew) Shown = VersionId;
        if (!Shown.IsEmpty() && (bIsNew || Now > RenewAt))
        {
            // Keeps the version on disk while it is shown.
            const FString Lease = FString::Printf(TEXT("{\"versionId\":\"%s\"}"), *Shown);
            FFileHelper::SaveStringToFile(Lease, *FPaths::Combine(Downloads, TEXT("acks"), ConsumerId + TEXT(".json")));
            RenewAt = Now + 600.0;
        }
    }

private:
    FString Downloads;
    FString ConsumerId;
    FString Shown;
    double NextLook = 0.0;
    double RenewAt = 0.0;
};
