import type { Run } from '../../src/protocol/run/run.ts';

/** A run as a reader would tell it, one line per thing said. */
export function transcript(run: Run): string {
  const lines = run.messages.flatMap((message): string[] => {
    if (message.role === 'user') return [`user       ${message.content}`];
    if (message.role === 'tool') return message.toolResults.map((result) => `tool       ${shorten(result.content)}`);
    if (message.role === 'system') return [`system     ${message.content}`];
    const said = message.content || (message.thinking ? `(thinks ${message.thinking})` : '');
    const cut = message.incomplete ? ' …' : '';
    const calls = (message.toolCalls ?? []).map(
      (call) => `→ ${call.name} ${call.malformed ?? JSON.stringify(call.arguments)}`,
    );
    return [...(said || cut ? [`${said}${cut}`] : []), ...calls].map((line) => `assistant  ${line}`);
  });
  return [...lines, `${run.phase}${run.error ? ` ${run.error.code}` : ''}`].join('\n');
}

/** Sums are as long as they are meaningless to a reader. */
function shorten(content: string): string {
  return content.replace(/"[0-9a-f]{64}"/g, '"(sha256)"').replace(/("message":"[^"]{60})[^"]*"/g, '$1…"');
}
