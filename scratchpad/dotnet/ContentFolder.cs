// Shows the active content version from disk, from Unity or .NET, and acknowledges it.
//
//     mcs -r:System.Runtime.Serialization ContentFolder.cs
//     mono ContentFolder.exe downloads exhibits/Objects.json
//
// It needs no connection to the controller. The event stream only makes it faster (EventStream.cs).
using System;
using System.IO;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Threading;
using System.Threading.Tasks;

public sealed class ContentFolder
{
    [DataContract]
    public sealed class Manifest
    {
        [DataMember(Name = "versionId", IsRequired = true)] public string VersionId;

        // Relative to the downloads folder, with forward slashes.
        [DataMember(Name = "versionPath", IsRequired = true)] public string VersionPath;
    }

    [DataContract]
    sealed class Lease
    {
        [DataMember(Name = "versionId", Order = 0)] public string VersionId;

        [DataMember(Name = "problem", Order = 1, EmitDefaultValue = false)] public string Problem;
    }

    readonly string downloads;
    readonly string consumerId;

    /// <param name="consumerId">A file name for this screen, the same at every start.</param>
    public ContentFolder(string downloads, string consumerId)
    {
        this.downloads = downloads;
        this.consumerId = consumerId;
    }

    /// <summary>The pause between two reads of the manifest.</summary>
    public TimeSpan PollEvery { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>How often the lease on the version is renewed. A lease is valid for 30 minutes.</summary>
    public TimeSpan RenewEvery { get; set; } = TimeSpan.FromMinutes(10);

    /// <summary>Called with the reason when a version cannot be shown, once. Default: standard error.</summary>
    public Action<string> OnProblem { get; set; } = Console.Error.WriteLine;

    /// <summary>
    /// Calls back with the id and the folder of each version that becomes active, and keeps it on disk while it is shown, until
    /// cancelled. A callback loads everything first, and then shows it. If it throws, it is called again at the next read.
    /// </summary>
    public async Task Follow(Action<string, string> show, CancellationToken cancelled)
    {
        string shown = null;
        string problem = null;
        var acknowledged = DateTime.MinValue;
        while (!cancelled.IsCancellationRequested)
        {
            var shownBefore = shown;
            var problemBefore = problem;
            try
            {
                var manifest = ReadManifest();
                if (manifest != null && manifest.VersionId != shown)
                {
                    show(manifest.VersionId, Path.Combine(downloads, manifest.VersionPath));
                    shown = manifest.VersionId;
                }
                problem = null;
            }
            catch (Exception error)
            {
                // Keeps the shown version and its lease. The next read may succeed, for example if a version was just removed.
                problem = error.Message;
                if (problem != problemBefore)
                {
                    OnProblem(problem);
                }
            }
            var hasChanged = shown != shownBefore || problem != problemBefore;
            if (shown != null && (hasChanged || DateTime.UtcNow - acknowledged > RenewEvery))
            {
                acknowledged = TryAcknowledge(shown, problem) ? DateTime.UtcNow : DateTime.MinValue;
            }
            await Task.Delay(PollEvery, cancelled);
        }
    }

    /// <summary>The current manifest; null before the first fetch.</summary>
    public Manifest ReadManifest()
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

    /// <summary>Opens a file without blocking the controller, which may replace or remove the file meanwhile.</summary>
    public static FileStream OpenShared(string path)
    {
        return new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
    }

    bool TryAcknowledge(string versionId, string problem)
    {
        try
        {
            var folder = Path.Combine(downloads, "acks");
            Directory.CreateDirectory(folder);
            using (var file = File.Create(Path.Combine(folder, consumerId + ".json")))
            {
                var cut = problem?.Substring(0, Math.Min(problem.Length, 200));
                var lease = new Lease { VersionId = versionId, Problem = cut };
                new DataContractJsonSerializer(typeof(Lease)).WriteObject(file, lease);
            }
            return true;
        }
        catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
        {
            OnProblem(error.Message);
            return false;
        }
    }

    public static void Main(string[] arguments)
    {
        var folder = new ContentFolder(arguments[0], "screen-1");
        if (arguments.Length > 2)
        {
            folder.PollEvery = TimeSpan.FromMilliseconds(int.Parse(arguments[2]));
            folder.RenewEvery = TimeSpan.FromMilliseconds(int.Parse(arguments[3]));
        }
        Action<string, string> show = (versionId, version) =>
        {
            using (var reader = new StreamReader(OpenShared(Path.Combine(version, arguments[1]))))
            {
                Console.WriteLine("{0}: {1} characters", versionId, reader.ReadToEnd().Length);
            }
        };
        folder.Follow(show, CancellationToken.None).Wait();
    }
}
