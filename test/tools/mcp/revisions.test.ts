import assert from 'node:assert/strict';
import type { ElicitationHandler, ElicitationRequest } from '../../../src/tools/mcp/elicitation/elicitationForm.ts';
import { eventually } from '../../support/eventually.ts';
import { faultyServer, statelessServer as stateless } from '../../support/mcp/servers.ts';
import { closeAll, node, type Talk, talk } from './talk.ts';

afterEach(closeAll);

describe('MCP: a server of revision 2026-07-28', () => {
  let t: Talk;
  beforeEach(async () => {
    t = await talk({ servers: { new: node(stateless) } });
    await t.prepare();
  });
  const said = async (name: string) => {
    const outcome = await t.call(`mcp.new.${name}`);
    return outcome.ok ? (outcome.data as { text: string }).text : outcome.error.message;
  };

  it('is used without initialize, and an odd tool costs no other', async () => {
    assert.deepEqual(t.server('new').state, { phase: 'running' });
    assert.deepEqual(t.server('new').leftOut, [{ kind: 'tools', names: ['7'], of: 9 }]);
    const meta = JSON.parse(await said('echo'));
    assert.equal(meta['io.modelcontextprotocol/protocolVersion'], '2026-07-28');
    assert.equal(meta['io.modelcontextprotocol/clientInfo'].name, 'towpath');
  });

  it('may leave out the type of a result, and an odd part costs no other', async () => {
    assert.equal(await said('untyped'), '"untyped"');
    assert.equal(await said('odd'), '[left out: a part of type "text" that does not fit the protocol]\nfine');
  });

  it('reports changes of its tools', async () => {
    await said('change');
    await eventually(
      'the new tool is there',
      () =>
        t
          .server('new')
          .tools.map(({ name }) => name)
          .join() === 'new',
    );
  });

  const call = async (name: string, elicit?: ElicitationHandler) => {
    const { signal } = t.stop;
    const { content } = await t.server('new').call(name, {}, { signal, elicit });
    return JSON.parse((content[0] as { text: string }).text);
  };

  it('asks the user, and gets back the answer with defaults and its own state', async () => {
    const asked: ElicitationRequest[] = [];
    const answer = await call('ask', async (request) => {
      asked.push(request);
      return { action: 'accept', content: { color: 'blue' } };
    });
    assert.deepEqual(answer, {
      inputResponses: { one: { action: 'accept', content: { color: 'blue', count: 3 } } },
      requestState: 'as it is',
    });
    const [request] = asked as [ElicitationRequest & { mode: 'form' }];
    assert.deepEqual(request.fields[0], {
      name: 'color',
      title: 'color',
      type: 'string',
      isRequired: true,
      choices: [
        { value: 'red', label: 'red' },
        { value: 'blue', label: 'blue' },
      ],
    });
  });

  it('asks to open a page', async () => {
    const asked: ElicitationRequest[] = [];
    const answer = await call('open', async (request) => {
      asked.push(request);
      return { action: 'accept' };
    });
    assert.deepEqual(asked, [{ mode: 'url', message: 'Pay', url: 'https://pay.example/1' }]);
    assert.deepEqual(answer.inputResponses, { one: { action: 'accept' } });
  });

  const declined: [what: string, name: string, elicit?: ElicitationHandler][] = [
    ['nobody can be asked', 'ask'],
    ['it asks for a secret', 'secret', async () => assert.fail('the user was asked')],
    ['the answer is not one of the choices', 'ask', async () => ({ action: 'accept', content: { color: 'green' } })],
    ['the user declines', 'ask', async () => ({ action: 'decline' })],
  ];
  for (const [what, name, elicit] of declined)
    it(`is declined if ${what}`, async () => {
      assert.deepEqual((await call(name, elicit)).inputResponses, { one: { action: 'decline' } });
    });

  it('cannot use the model: the call fails, the server stays', async () => {
    const refused = 'The MCP server "new" asked for something that Towpath does not do for servers.';
    assert.equal(await said('sample'), refused);
    assert.equal(await said('untyped'), '"untyped"');
  });
});

describe('MCP: a server of revision 2025-11-25 that fails until the user has been to a page', () => {
  const cases: [action: 'accept' | 'decline', message: RegExp][] = [
    ['accept', /Call it again when that is done\.$/],
    ['decline', /says: A page first\.$/],
  ];
  for (const [action, message] of cases)
    it(`${action}s`, async () => {
      const t = await talk({ servers: { old: node(faultyServer, 'wants-page') } });
      t.person.openAddress = async (_, { url }) => {
        assert.equal(url, 'https://pay.example/');
        return action;
      };
      await t.prepare();
      const outcome = await t.call('mcp.old.work');
      assert.match(outcome.ok ? '' : outcome.error.message, message);
      assert.equal(t.server('old').state.phase, 'running');
    });
});

describe('MCP: the revision of a server is found', () => {
  const cases: [what: string, args: string[]][] = [
    ['one that ignores what it does not know', [faultyServer, 'silent']],
    ['one that exits unless it is initialized first', [faultyServer, 'strict']],
    ['a new one that starts slowly', [stateless, 'late', '2500']],
  ];
  for (const [what, [script, ...args]] of cases)
    it(what, async () => {
      const t = await talk({ servers: { s: node(script!, ...args) } });
      await t.prepare();
      assert.deepEqual(t.server('s').state, { phase: 'running' });
      await t.servers.restart(t.server('s'));
      assert.deepEqual(t.server('s').state, { phase: 'running' });
    });
});
