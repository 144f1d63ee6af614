import type { Socket } from 'node:net';

const maxLine = 1_000_000;

/** Reads bytes up to a line feed and leaves the others. Returns an empty text if the socket closes before, or the line is too long. */
export function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let line = '';
    const finish = (text: string) => {
      socket.off('readable', read).off('close', close);
      resolve(text);
    };
    const close = () => finish('');
    const read = () => {
      for (;;) {
        const byte = socket.read(1) as Buffer | null;
        if (byte === null) return;
        if (byte[0] === 10) return finish(line);
        line += byte.toString('latin1');
        if (line.length > maxLine) return finish('');
      }
    };
    socket.on('readable', read).once('close', close);
  });
}
