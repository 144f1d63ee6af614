import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ChatRequest, LLMClient } from '../../src/llm/core/client.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import { type Answer, Whole } from '../llm/local/whole.ts';
import { describeTrained } from './trained.ts';

const files = { 'README.md': '# Boats\nAll boats are red.\n', 'old.txt': 'old\n' };
const instructions =
  'You are a coding agent. Use the tool for what the user wants, then say in one sentence what you did.';

/**
 * Has the model call one tool once after each message of the user, with few other tokens: models this small call none by themselves, and
 * read the whole prompt of an agent for minutes.
 */
function callsOnce(client: LLMClient, tool: string): LLMClient {
  const asked = (request: ChatRequest): ChatRequest => ({
    ...request,
    systemPrompt: instructions,
    tools: request.tools?.filter(({ name }) => name === tool),
    toolChoice: request.messages.at(-1)?.role === 'user' ? 'required' : 'auto',
    temperature: 0,
    maxTokens: request.messages.at(-1)?.role === 'user' ? 120 : 16,
  });
  return { ...client, chatStream: (request, signal) => client.chatStream(asked(request), signal) };
}

const branches = `
nodes:
  - name: begin
  - {name: river, agent: {instructions: You name rivers.}, prompt: Name a river., output: answer}
  - {name: lake, agent: {instructions: You name lakes.}, prompt: Name a lake., output: answer}
  - name: end
    uses: state.set
    with: {all: "{% for one in parallel_results %}[{{ one.answer.content }}]{% endfor %}"}
edges:
  - {from: begin, to: river, parallel: true, fan_in: end}
  - {from: begin, to: lake, parallel: true, fan_in: end}
`;

describeTrained(
  'a run with a trained model',
  (model) => {
    let run: Whole | undefined;
    afterEach(async () => {
      await run?.end();
      run = undefined;
    });
    const results = (messages: readonly Message[]) =>
      messages.flatMap((one) => (one.role === 'tool' ? one.toolResults.map(({ content }) => JSON.parse(content)) : []));

    const calls: [what: string, tool: string, text: string, answers: Answer[], code: RegExp][] = [
      ['is free', 'fs.find', 'Find all files with the pattern *.md in the folder .', [], /^(ok|ENOENT)$/],
      ['is allowed', 'fs.delete', 'Delete the file old.txt', ['allow'], /^ok$/],
      ['is denied', 'fs.delete', 'Delete the file old.txt', ['deny'], /^TOOL_DENIED$/],
      ['fails', 'fs.delete', 'Delete the file missing.txt', ['allow'], /^(?!ok|TOOL_DENIED)/],
    ];
    for (const [what, tool, text, answers, code] of calls)
      it(`answers after a call that ${what}, and reads its prompt once`, async () => {
        run = await Whole.begin(callsOnce(await model.client(), tool), files, [...answers]);
        const ended = await run.start(text);
        assert.equal(ended.phase, 'WaitingUser', JSON.stringify(ended));
        if (answers.length === 0) assert.deepEqual(run.questions, []);
        const { messages } = await run.kept();
        const roles = messages.map(({ role }) => role);
        assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant']);
        const [outcome] = results(messages);
        const call = messages[1]!.role === 'assistant' ? messages[1]!.toolCalls![0]! : undefined;
        model.figure(
          `a call that ${what}`,
          JSON.stringify(call!.arguments).slice(0, 90),
          outcome.ok ? 'ok' : outcome.error.code,
          `then ${JSON.stringify(messages[3]!.content)}`,
        );
        assert.match(outcome.ok ? 'ok' : outcome.error.code, code);
        assert.equal(existsSync(path.join(run.workspace.root, 'old.txt')), what !== 'is allowed');
        const [first, second] = run.evaluated;
        assert.ok(second!.evaluated < second!.prompt - first!.prompt + 2, 'its own call and its result are new');
      });

    it('answers in both branches of a workflow', async () => {
      const client = await model.client();
      const short: LLMClient = {
        ...client,
        chatStream: (request, signal) =>
          client.chatStream({ ...request, tools: [], temperature: 0, maxTokens: 12 }, signal),
      };
      run = await Whole.begin(short, files);
      run.workflow = branches;
      const { phase, error } = await run.start('go');
      const all = run.events.flatMap((event) =>
        event.type === 'message' && event.message.role === 'assistant' ? [event.message.content] : [],
      );
      assert.equal(all.length, 2);
      model.figure('two branches', phase, ...(error ? [error.code] : []), ...all.map((text) => JSON.stringify(text)));
    });
  },
  'named',
);
