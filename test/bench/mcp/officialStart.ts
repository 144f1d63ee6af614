// Starts a server with the official client in a fresh process, and prints the CPU time in milliseconds. zod is there before, as in the editor.
import 'zod';

void run();

async function run(): Promise<void> {
  const before = process.cpuUsage();
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const args = [process.argv.at(-1)!];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000, tools.length);
  await client.close();
  process.exit();
}
