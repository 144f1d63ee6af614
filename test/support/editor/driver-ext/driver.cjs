// For tests only: runs JavaScript that a test sends, against the real `vscode` API, in the extension host that Towpath
// runs in. It listens on the socket file named by DRIVER_SOCKET and does nothing without one.
const fs = require('node:fs');
const http = require('node:http');
const vscode = require('vscode');
const files = require('./files.cjs');

exports.activate = () => {
  const socket = process.env.DRIVER_SOCKET;
  if (!socket) return;
  files.register();
  fs.rmSync(socket, { force: true }); // after a reload of the window the last host's file is still there
  http.createServer(answer).listen(socket);
};

async function answer(request, response) {
  let body = '';
  request.setEncoding('utf8');
  for await (const piece of request) body += piece;
  const { code, argument } = JSON.parse(body);
  try {
    // tsx marks every named function with __name(), which exists in the sender's module only.
    const run = new Function('__name', `return (${code})`)((named) => named);
    const value = await run(vscode, argument, require);
    response.end(JSON.stringify({ value }));
  } catch (error) {
    response.end(JSON.stringify({ error: String(error?.stack ?? error) }));
  }
}
