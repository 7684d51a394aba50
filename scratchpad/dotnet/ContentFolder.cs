// Reads the active content version from disk, from Unity or .NET, and acknowledges it.
//
//     mcs -r:System.Runtime.Serialization ContentFolder.cs
//     mono ContentFolder.exe downloads exhibit/Objects.json
//
// It needs no connection to the controller; the event stream only makes it quicker (EventStream.cs).
using System;
using System.IO;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Threading;

public static class ContentFolder
{
    [DataContract]
    public class Manifest
    {
        [DataMember(Name = "versionId", IsRequired = true)] public string VersionId;

        // Relative to the downloads folder, with forward slashes.
        [DataMember(Name = "versionPath", IsRequired = true)] public string VersionPath;
    }

    // The lease on a version lasts 30 minutes.
    static readonly TimeSpan RenewAfter = TimeSpan.FromMinutes(10);

    /// <summary>What the manifest says now; null before the first fetch.</summary>
    public static Manifest ReadManifest(string downloads)
    {
        try
        {
            using (var file = OpenShared(Path.Combine(downloads, "manifest.json")))
            {
                var manifest = (Manifest)new DataContractJsonSerializer(typeof(Manifest)).ReadObject(file);
                if (manifest == null || manifest.VersionId == null || manifest.VersionPath == null)
                {
                    throw new SerializationException("The manifest names no version.");
                }
                return manifest;
            }
        }
        catch (FileNotFoundException)
        {
            return null;
        }
        catch (DirectoryNotFoundException)
        {
            return null;
        }
    }

    /// <summary>Opens a file without holding up the controller, which may replace or remove it meanwhile.</summary>
    public static FileStream OpenShared(string path)
    {
        return new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
    }

    /// <summary>Keeps the version on disk while it is shown. Call it again every ten minutes.</summary>
    public static void Acknowledge(string downloads, string consumerId, string versionId)
    {
        var folder = Path.Combine(downloads, "acks");
        Directory.CreateDirectory(folder);
        File.WriteAllText(Path.Combine(folder, consumerId + ".json"), "{\"versionId\":\"" + versionId + "\"}");
    }

    /// <summary>
    /// Whether another look may go better: a manifest that is damaged, a version that was just removed, a full disk.
    /// </summary>
    static bool MayPass(Exception error)
    {
        return error is IOException || error is UnauthorizedAccessException || error is SerializationException;
    }

    public static void Main(string[] arguments)
    {
        var downloads = arguments[0];
        string shown = null;
        string problem = null;
        var acknowledged = DateTime.MinValue;
        while (true)
        {
            try
            {
                var manifest = ReadManifest(downloads);
                if (manifest != null && manifest.VersionId != shown)
                {
                    // Load everything first, then show it: never half a version.
                    var path = Path.Combine(downloads, manifest.VersionPath, arguments[1]);
                    using (var reader = new StreamReader(OpenShared(path)))
                    {
                        Console.WriteLine("{0}: {1} characters", manifest.VersionId, reader.ReadToEnd().Length);
                    }
                    shown = manifest.VersionId;
                    acknowledged = DateTime.MinValue;
                }
                problem = null;
            }
            catch (Exception error) when (MayPass(error))
            {
                // What is shown stays, and so does its lease.
                if (error.Message != problem)
                {
                    problem = error.Message;
                    Console.Error.WriteLine(problem);
                }
            }
            try
            {
                if (shown != null && DateTime.UtcNow - acknowledged > RenewAfter)
                {
                    Acknowledge(downloads, "screen-1", shown);
                    acknowledged = DateTime.UtcNow;
                }
            }
            catch (Exception error) when (MayPass(error))
            {
                Console.Error.WriteLine(error.Message);
            }
            Thread.Sleep(2000);
        }
    }
}
