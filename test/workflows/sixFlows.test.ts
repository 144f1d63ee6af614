import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as z from 'zod';
import { createReadOnlyTool } from '../../src/tools/core/tool.ts';
import { type ProviderScript, reply } from '../support/provider.ts';
import { Stage } from './stage.ts';

// Written from the page of workflows alone: what is missing there is missing here.

const review = `
name: Review a diff
nodes:
  - name: diff
    uses: shell.run
    with: {command: git diff HEAD}
    output: diff
    goto:
      - {if: state.diff.exitCode != 0 or not (state.diff.output | trim), to: nothing}
      - {to: readers}
  - name: nothing
    uses: state.set
    with: {content: There is nothing to review.}
    goto: __end__
  - name: readers
  - name: mistakes
    uses: llm.call
    with: {messages: [{role: user, content: "Mistakes in:\\n{{ state.diff.output }}"}]}
    output: {kind: mistakes, review: "{{ result.content }}"}
  - name: style
    uses: llm.call
    with: {messages: [{role: user, content: "Style of:\\n{{ state.diff.output }}"}]}
    output: {kind: style, review: "{{ result.content }}"}
  - name: tests
    uses: llm.call
    with: {messages: [{role: user, content: "Missing tests of:\\n{{ state.diff.output }}"}]}
    output: {kind: tests, review: "{{ result.content }}"}
  - name: verdict
    fan_in: true
    uses: llm.call
    with:
      messages:
        - role: user
          content: |
            One review of these:
            {% for one in parallel_results %}
            {{ one.kind }}: {{ one.review }}
            {% endfor %}
    output: verdict
edges:
  - {from: readers, to: mistakes, parallel: true, fan_in: verdict}
  - {from: readers, to: style, parallel: true, fan_in: verdict}
  - {from: readers, to: tests, parallel: true, fan_in: verdict}
`;

const untilPass = `
name: Until the tests pass
input_schema:
  command: {type: str, required: true}
initial_state: {round: 0}
nodes:
  - name: test
    uses: shell.run
    with: {command: "{{ state.command }}"}
    output: tests
    goto:
      - {if: state.tests.exitCode == 0, to: passed}
      - {if: state.round >= 3, to: given_up}
      - {to: mend}
  - name: mend
    steps:
      - uses: llm.tools
        with:
          tools: [fs.read, fs.edit]
          messages: [{role: user, content: "Mend this:\\n{{ state.tests.output }}"}]
        output: {said: "{{ result.content }}"}
      - run: {type: expression, value: state.round + 1, output_key: round}
    goto: test
  - name: given_up
    uses: state.set
    with: {content: "Given up after {{ state.round }} rounds."}
    goto: __end__
  - name: passed
    uses: state.set
    with: {content: "Passed after {{ state.round }} rounds."}
`;

const triage = `
name: Triage
state_schema: {report: str}
nodes:
  - name: judge
    uses: llm.call
    with:
      messages: [{role: user, content: "{{ state.report }}"}]
      response_format:
        type: json_schema
        json_schema:
          name: triage
          schema:
            type: object
            properties: {severity: {type: integer, minimum: 1, maximum: 5}, summary: {type: string}}
            required: [severity, summary]
    output: {triage: "{{ result.content | fromjson }}"}
    goto:
      - {if: state.triage.severity >= 4, to: urgent}
      - {to: later}
  - name: urgent
    uses: fs.write
    with: {path: urgent.json, content: "{{ state.triage | tojson }}"}
    output: written
    goto: say
  - name: later
    uses: fs.write
    with: {path: later.json, content: "{{ state.triage | tojson }}"}
    output: written
  - name: say
    uses: state.set
    with: {content: "{{ state.written.path }}: {{ state.triage.summary }}"}
`;

const translate = `
name: Translate the docs
state_schema: {language: str}
nodes:
  - name: find
    uses: fs.find
    with: {pattern: "docs/*.md"}
    output: found
  - name: translate
    foreach: state.found.files
    item: file
    max_workers: 2
    steps:
      - uses: fs.read
        with: {path: "{{ file }}"}
        output: source
      - uses: llm.call
        with: {messages: [{role: user, content: "Into {{ state.language }}:\\n{{ state.source.text }}"}]}
        output: {text: "{{ result.content }}"}
        on_error: {retry: 1, wait: 0}
      - uses: fs.write
        with: {path: "{{ state.language }}/{{ file }}", content: "{{ state.text }}"}
        output: {written: "{{ result.path }}"}
    output: all
  - name: say
    uses: state.set
    with: {content: "{{ state.all | map(attribute='written') | join(', ') }}"}
`;

const research = `
name: Research
state_schema: {question: str}
nodes:
  - name: search
    uses: mcp.search.query
    with: {q: "{{ state.question }}"}
    output: found
    on_error: {retry: 1, wait: 0, goto: nothing}
  - name: answer
    uses: llm.call
    with:
      messages:
        - {role: system, content: Answer from the sources alone.}
        - {role: user, content: "{{ state.question }}\\n\\n{{ state.found.text }}"}
    output: answer
    goto: __end__
  - name: nothing
    uses: state.set
    with: {content: "No search: {{ state.error.message }}"}
`;

const notes = `
name: Release notes
state_schema: {since: str}
nodes:
  - name: log
    uses: shell.run
    with: {command: "git log --format=%s {{ state.since | quote }}..HEAD"}
    output: log
    goto:
      - {if: state.log.exitCode != 0, to: no_log}
      - {to: write}
  - name: no_log
    uses: state.set
    with: {content: "Git says: {{ state.log.output }}"}
    goto: __end__
  - name: write
    uses: llm.call
    with: {messages: [{role: user, content: "Release notes of:\\n{{ state.log.output }}"}]}
    output: notes
  - name: keep
    uses: fs.write
    with: {path: NOTES.md, content: "{{ state.notes.content }}"}
    output: kept
  - name: say
    uses: state.set
    with: {content: "{{ state.kept.path }} is written."}
`;

describe('flows that were written from the page alone run at first go', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const begin = async (yaml: string, script: ProviderScript, files: Record<string, string> = {}) => {
    stage = await Stage.of(yaml, script, { files });
  };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: stage.workspace.root });
  const committed = () => {
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'One');
  };
  const run = async (values: Record<string, unknown> = {}) => {
    const { phase, error, assistantText } = await stage.start('go', values);
    return error?.message ?? `${phase}: ${assistantText}`;
  };
  const asked = () => stage.provider.requests.map(({ body }) => body.messages.at(-1)!.content!);

  it('a diff is reviewed by three readers, and one joins what they say', async () => {
    await begin(review, ({ messages }) => reply.text(messages.at(-1)!.content!.split('\n')[0]!.toUpperCase()), {
      'a.txt': 'one\n',
    });
    committed();
    stage.workspace.write('a.txt', 'two\n');
    assert.equal(await run(), 'Completed: ONE REVIEW OF THESE:');
    assert.match(asked().at(-1)!, /mistakes: MISTAKES IN:\s+style: STYLE OF:\s+tests: MISSING TESTS OF:/);
    assert.match(asked()[0]!, /\+two/);
  });

  it('tests are mended until they pass', async () => {
    await begin(
      untilPass,
      [
        reply.call('fs_edit', { path: 'n.txt', edits: [{ oldText: '1', newText: '2' }] }),
        reply.text('Mended.'),
        reply.call('fs_edit', { path: 'n.txt', edits: [{ oldText: '2', newText: '3' }] }),
        reply.text('Mended.'),
      ],
      { 'n.txt': '1\n' },
    );
    assert.equal(
      await run({ command: 'echo it is $(cat n.txt); test "$(cat n.txt)" = 3' }),
      'Completed: Passed after 2 rounds.',
    );
    assert.equal(asked()[2], 'Mend this:\nit is 2\n');
  });

  for (const [severity, file] of [
    [5, 'urgent.json'],
    [2, 'later.json'],
  ] as const)
    it(`a report of severity ${severity} becomes ${file}`, async () => {
      const judged = { severity, summary: 'It burns.' };
      await begin(triage, [reply.text(JSON.stringify(judged))]);
      assert.equal(await run({ report: 'Fire' }), `Completed: ${file}: It burns.`);
      assert.deepEqual(JSON.parse(stage.workspace.read(file)), judged);
    });

  it('many files are translated, each on its own', async () => {
    await begin(translate, ({ messages }) => reply.text(messages.at(-1)!.content!.toUpperCase()), {
      'docs/a.md': 'one',
      'docs/b c.md': 'two',
      'docs/d.md': 'three',
    });
    assert.equal(await run({ language: 'de' }), 'Completed: de/docs/a.md, de/docs/b c.md, de/docs/d.md');
    assert.equal(stage.workspace.read('de/docs/b c.md'), 'INTO DE:\nTWO');
  });

  it('a question is answered with a tool server, and without one it says so', async () => {
    await begin(research, [reply.text('Blue.')]);
    assert.match(await run({ question: 'Which colour?' }), /mcp\.search\.query/);
    await stage.end();
    await begin(research, [reply.text('Blue.')]);
    const parts = { name: 'mcp.search.query', description: 'Searches.', arguments: { q: z.string() } };
    stage.tools = [createReadOnlyTool(parts, async ({ q }) => ({ text: `${q} The sky is blue.` }))];
    stage.build();
    assert.equal(await run({ question: 'Which colour?' }), 'Completed: Blue.');
    assert.equal(asked()[0], 'Which colour?\n\nWhich colour? The sky is blue.');
  });

  it('release notes are made from the log, and a tag that would be a command is a word', async () => {
    await begin(notes, [reply.text('# New: Two')], { 'a.txt': 'one\n' });
    committed();
    git('tag', 'v1');
    git('commit', '-q', '--allow-empty', '-m', 'Two');
    assert.equal(await run({ since: 'v1' }), 'Completed: NOTES.md is written.');
    assert.equal(asked()[0], 'Release notes of:\nTwo\n');
    assert.equal(stage.workspace.read('NOTES.md'), '# New: Two');
    await stage.end();
    await begin(notes, [], { 'a.txt': 'one\n' });
    committed();
    assert.match(await run({ since: 'v1; touch hacked' }), /^Completed: Git says: /);
    assert.equal(stage.workspace.exists('hacked'), false);
  });
});
