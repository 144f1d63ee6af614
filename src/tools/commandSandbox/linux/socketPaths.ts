/**
 * Returns the paths of Unix sockets in a text of `/proc/net/unix`, which lists the sockets of one network namespace. A read-only mount does
 * not prevent a connection, so that each visible socket has to be hidden. Abstract sockets (`@…`) belong to the network namespace, and a
 * relative path has no known location; both are left out.
 */
export const socketPaths = (text: string): string[] => [
  ...new Set([...text.matchAll(socketLine)].map(([, path]) => path!)),
];

// Number, references, protocol, flags, type, state, inode, path; a path may contain blanks.
const socketLine = /^[0-9a-f]+: [0-9A-F]+ [0-9A-F]+ [0-9A-F]+ [0-9A-F]+ [0-9A-F]+ +\d+ (\/.*)$/gm;
