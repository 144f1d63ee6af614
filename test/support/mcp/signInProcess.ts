// A window in a process of its own: calls a protected server when its input says so, and prints what came of it.
import { createAuthorizedFetch } from '../../../src/tools/mcp/oauth/authorizedFetch.ts';
import { SignInWindow } from './signIn.ts';

const [folder, url] = process.argv.slice(2);
const signIn = new SignInWindow(folder!).signInOf(url!);
process.stdout.write('ready\n');
process.stdin.once('data', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const answer = await createAuthorizedFetch(fetch, signIn)(url!, { method: 'POST', body }).catch(String);
  process.stdout.write(`${typeof answer === 'string' ? answer : answer.status}\n`, () => process.exit());
});
