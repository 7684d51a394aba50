// Follows Vitrine's event stream from Unity or .NET, and prints each event.
//
//     mcs -r:System.Net.Http EventStream.cs && mono EventStream.exe http://127.0.0.1:8710
//
// The stream only makes it faster. The manifest on disk decides, so read the manifest every few seconds, too
// (ContentFolder.cs).
using System;
using System.IO;
using System.Net.Http;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

public sealed class EventStream
{
    // Without a time limit, because the response of /events never ends. Without a proxy, even if HTTP_PROXY is set: the controller is
    // on this machine or in its network.
    static readonly HttpClient Client = new HttpClient(new HttpClientHandler { UseProxy = false })
    {
        Timeout = Timeout.InfiniteTimeSpan
    };

    readonly string events;

    public EventStream(string transport)
    {
        events = transport + "/events";
    }

    /// <summary>The pause before a new connection, for any end of the stream, also after a 503.</summary>
    public TimeSpan ReconnectAfter { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// How long a response or its next line may take. After three missing pings the connection is dead, even if the socket
    /// reports no error. Without this limit, a read may never return.
    /// </summary>
    public TimeSpan SilenceLimit { get; set; } = TimeSpan.FromSeconds(45);

    /// <summary>Called with the reason whenever there is no stream. Default: standard error.</summary>
    public Action<string> OnProblem { get; set; } = Console.Error.WriteLine;

    /// <summary>Calls back with name and data of every event, reconnecting for ever, until it is cancelled.</summary>
    public async Task Follow(Action<string, string> onEvent, CancellationToken cancelled)
    {
        while (!cancelled.IsCancellationRequested)
        {
            using (var connection = CancellationTokenSource.CreateLinkedTokenSource(cancelled))
            {
                try
                {
                    await FollowOnce(onEvent, connection.Token);
                }
                catch (Exception error) when (!cancelled.IsCancellationRequested)
                {
                    OnProblem($"No event stream: {error.Message}");
                }
                // Ends the abandoned read, too.
                connection.Cancel();
            }
            await Task.Delay(ReconnectAfter, cancelled);
        }
    }

    async Task FollowOnce(Action<string, string> onEvent, CancellationToken connection)
    {
        var request = Client.GetAsync(events, HttpCompletionOption.ResponseHeadersRead, connection);
        using (var response = await InTime(request, connection))
        {
            response.EnsureSuccessStatusCode();
            using (var stream = await response.Content.ReadAsStreamAsync())
            using (var reader = new StreamReader(stream, Encoding.UTF8))
            {
                await ReadEvents(reader, onEvent, connection);
            }
        }
    }

    async Task ReadEvents(StreamReader reader, Action<string, string> onEvent, CancellationToken connection)
    {
        var name = "message";
        var data = new StringBuilder();
        string line;
        while ((line = await InTime(reader.ReadLineAsync(), connection)) != null)
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
            else if (line.StartsWith("event: ", StringComparison.Ordinal))
            {
                name = line.Substring("event: ".Length);
            }
            else if (line.StartsWith("data: ", StringComparison.Ordinal))
            {
                data.Append(line, "data: ".Length, line.Length - "data: ".Length).Append('\n');
            }
        }
    }

    /// <summary>The result of the task; fails if it takes too long.</summary>
    async Task<T> InTime<T>(Task<T> task, CancellationToken connection)
    {
        using (var timer = CancellationTokenSource.CreateLinkedTokenSource(connection))
        {
            var first = await Task.WhenAny(task, Task.Delay(SilenceLimit, timer.Token));
            timer.Cancel();
            if (first != task)
            {
                connection.ThrowIfCancellationRequested();
                throw new TimeoutException("nothing came for too long");
            }
            return await task;
        }
    }

    public static void Main(string[] arguments)
    {
        var cancellation = new CancellationTokenSource();
        Console.CancelKeyPress += (_, pressed) =>
        {
            pressed.Cancel = true;
            cancellation.Cancel();
        };
        var stream = new EventStream(arguments[0]);
        if (arguments.Length > 1)
        {
            stream.SilenceLimit = TimeSpan.FromMilliseconds(int.Parse(arguments[1]));
        }
        try
        {
            stream.Follow((name, data) => Console.WriteLine($"{name} {data}"), cancellation.Token).Wait();
        }
        catch (AggregateException) when (cancellation.IsCancellationRequested)
        {
        }
    }
}
