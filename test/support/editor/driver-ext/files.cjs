// For tests only: a file system of the editor's own, of which nobody but the editor knows where it is. `driverfs:/some/folder` is that folder.
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const { Unknown, File, Directory, SymbolicLink } = vscode.FileType;

function typeOf(entry) {
  if (entry.isSymbolicLink()) return SymbolicLink | File;
  return entry.isDirectory() ? Directory : entry.isFile() ? File : Unknown;
}

/** Asks the disk, and says what it said as the editor wants it. */
function asking(uri, ask) {
  try {
    return ask(uri.path);
  } catch (error) {
    throw error.code === 'ENOENT'
      ? vscode.FileSystemError.FileNotFound(uri)
      : vscode.FileSystemError.NoPermissions(uri);
  }
}

const changed = new vscode.EventEmitter();

exports.register = () =>
  vscode.workspace.registerFileSystemProvider('driverfs', {
    onDidChangeFile: changed.event,
    watch: () => new vscode.Disposable(() => {}),
    stat: (uri) =>
      asking(uri, (at) => {
        const stats = fs.lstatSync(at);
        return { type: typeOf(stats), size: stats.size, ctime: stats.ctimeMs, mtime: stats.mtimeMs };
      }),
    readDirectory: (uri) =>
      asking(uri, (at) => fs.readdirSync(at, { withFileTypes: true }).map((entry) => [entry.name, typeOf(entry)])),
    readFile: (uri) => asking(uri, (at) => fs.readFileSync(at)),
    writeFile: (uri, content) => asking(uri, (at) => fs.writeFileSync(at, content)),
    createDirectory: (uri) => asking(uri, (at) => fs.mkdirSync(at)),
    delete: (uri) => asking(uri, (at) => fs.rmSync(at, { recursive: true })),
    rename: (from, to) => asking(from, (at) => fs.renameSync(at, path.resolve(to.path))),
  });
