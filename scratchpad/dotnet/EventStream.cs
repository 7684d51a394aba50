// Follows Vitrine's event stream from Unity or .NET, and prints each event.
//
//     mcs -r:System.Net.Http EventStream.cs && mono EventStream.exe http://127.0.0.1:8710
//
// The stream only makes it quicker: the manifest on disk is the truth, so read that every few seconds, too.
using System;
using System.IO;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

public static class EventStream
{
    // Without a limit on its own: the answer of /events never ends.
    static readonly HttpClient Client = new HttpClient { Timeout = Timeout.InfiniteTimeSpan };

    static readonly TimeSpan ReconnectAfter = TimeSpan.FromSeconds(2);

    // Three pings are late: the connection is dead, whatever the socket says.
    static readonly TimeSpan SilenceLimit = TimeSpan.FromSeconds(45);

    /// <summary>Calls back for every event, reconnecting for ever, until it is cancelled.</summary>
    public static async Task Follow(string transport, Action<string, string> onEvent, CancellationToken cancelled)
    {
        while (!cancelled.IsCancellationRequested)
        {
            try
            {
                await FollowOnce(transport, onEvent, cancelled);
            }
            catch (Exception error) when (!cancelled.IsCancellationRequested)
            {
                Console.Error.WriteLine($"No event stream: {error.Message}");
            }
            await Task.Delay(ReconnectAfter, cancelled);
        }
    }

    static async Task FollowOnce(string transport, Action<string, string> onEvent, CancellationToken cancelled)
    {
        using (var response = await Client.GetAsync(
            transport + "/events", HttpCompletionOption.ResponseHeadersRead, cancelled))
        {
            response.EnsureSuccessStatusCode();
            using (var stream = await response.Content.ReadAsStreamAsync())
            using (var reader = new StreamReader(stream, Encoding.UTF8))
            {
                await ReadEvents(reader, onEvent, cancelled);
            }
        }
    }

    static async Task ReadEvents(StreamReader reader, Action<string, string> onEvent, CancellationToken cancelled)
    {
        var name = "message";
        var data = new StringBuilder();
        string line;
        while ((line = await NextLine(reader, cancelled)) != null)
        {
            if (line == "" && data.Length > 0)
            {
                onEvent(name, data.ToString(0, data.Length - 1));
            }
            if (line == "")
            {
                name = "message";
                data.Clear();
            }
            else if (line.StartsWith("event: "))
            {
                name = line.Substring("event: ".Length);
            }
            else if (line.StartsWith("data: "))
            {
                data.Append(line, "data: ".Length, line.Length - "data: ".Length).Append('\n');
            }
        }
    }

    static async Task<string> NextLine(StreamReader reader, CancellationToken cancelled)
    {
        var line = reader.ReadLineAsync();
        if (await Task.WhenAny(line, Task.Delay(SilenceLimit, cancelled)) != line)
        {
            cancelled.ThrowIfCancellationRequested();
            throw new TimeoutException("nothing came for too long");
        }
        return await line;
    }

    public static void Main(string[] arguments)
    {
        var cancellation = new CancellationTokenSource();
        Console.CancelKeyPress += (_, pressed) =>
        {
            pressed.Cancel = true;
            cancellation.Cancel();
        };
        try
        {
            Follow(arguments[0], (name, data) => Console.WriteLine($"{name} {data}"), cancellation.Token).Wait();
        }
        catch (AggregateException) when (cancellation.IsCancellationRequested)
        {
        }
    }
}
