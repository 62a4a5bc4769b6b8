"""Makes a local server as far away as a round trip: passes on bytes half of one after they have
arrived, in both directions, and opens a connection in one. Handshakes of TLS so take as many round
trips as they have. Prints its port.

usage: delay_proxy.py PORT SECONDS     the server's port, and the round trip
"""
import asyncio
import sys


async def write_delayed(queue, writer):
    loop = asyncio.get_running_loop()
    while True:
        time, data = await queue.get()
        await asyncio.sleep(max(0, time - loop.time()))
        if not data:
            writer.close()
            return
        writer.write(data)


async def pass_on(reader, writer, opened, delay):
    """Bytes of one direction, of a connection that is open from the time `opened`."""
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue()
    writing = asyncio.create_task(write_delayed(queue, writer))
    data = b"first"
    while data:
        try:
            data = await reader.read(1 << 16)
        except ConnectionError:
            data = b""
        queue.put_nowait((max(loop.time(), opened) + delay, data))
    await writing


async def main(port, round_trip):
    async def connect(reader, writer):
        opened = asyncio.get_running_loop().time() + round_trip
        of_server, to_server = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pass_on(reader, to_server, opened, round_trip / 2),
                             pass_on(of_server, writer, opened, round_trip / 2))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
