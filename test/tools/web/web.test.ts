import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { checkFetchUrl, isPublicAddress, resolveHostAddresses } from '../../../src/tools/network/addresses.ts';
import { scanHtmlNesting } from '../../../src/tools/web/htmlNesting.ts';
import { pageText } from '../../../src/tools/web/text.ts';
import type { WebOptions } from '../../../src/tools/web/web.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

describe('tools: which addresses web.fetch goes to', () => {
  const places: [address: string, isPublic: boolean][] = [
    ['93.184.215.14', true],
    ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', true],
    ['127.0.0.1', false],
    ['127.8.8.8', false],
    ['0.0.0.0', false],
    ['10.1.2.3', false],
    ['172.16.0.1', false],
    ['172.31.255.255', false],
    ['172.32.0.1', true],
    ['192.168.1.1', false],
    ['100.64.0.1', false],
    ['169.254.169.254', false],
    ['192.0.0.8', false],
    ['198.18.0.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['240.0.0.1', false],
    ['::', false],
    ['::1', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['::ffff:93.184.215.14', true],
    ['64:ff9b::7f00:1', false],
    ['::7f00:1', false],
    ['2002:7f00:1::', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['fc00::1', false],
    ['fd12:3456::1', false],
    ['ff02::1', false],
    ['2001:db8::1', false],
    ['not an address', false],
  ];
  for (const [address, expected] of places)
    it(`${address} is ${expected ? 'public' : 'not public'}`, () => assert.equal(isPublicAddress(address), expected));

  const refused: [url: string, reason: string][] = [
    ['http://localhost/', 'PRIVATE_ADDRESS'],
    ['http://a.localhost./', 'PRIVATE_ADDRESS'],
    ['http://2130706433/', 'PRIVATE_ADDRESS'],
    ['http://0177.0.0.1/', 'PRIVATE_ADDRESS'],
    ['http://0x7f.1/', 'PRIVATE_ADDRESS'],
    ['http://0/', 'PRIVATE_ADDRESS'],
    ['http://[::1]:80/', 'PRIVATE_ADDRESS'],
    ['http://[::ffff:7f00:1]/', 'PRIVATE_ADDRESS'],
    ['http://①②⑦.⓪.⓪.①/', 'PRIVATE_ADDRESS'],
    ['http://169.254.169.254/latest/meta-data', 'PRIVATE_ADDRESS'],
    ['https://name:word@example.com/', 'URL_REFUSED'],
    ['https://name@example.com/', 'URL_REFUSED'],
    ['file:///etc/passwd', 'URL_REFUSED'],
    ['ftp://example.com/', 'URL_REFUSED'],
    ['data:text/plain,x', 'URL_REFUSED'],
    ['javascript:alert(1)', 'URL_REFUSED'],
    ['example.com', 'URL_REFUSED'],
    ['', 'URL_REFUSED'],
  ];
  for (const [url, reason] of refused)
    it(`${url || 'nothing'} is refused without asking`, async () => {
      const workspace = await temporaryWorkspace();
      try {
        const { call, asked } = conversation(workspace);
        const failed = await error(call('web.fetch', { url }));
        assert.deepEqual([failed.code, failed.reason, asked], ['E_SANDBOX_VIOLATION', reason, []]);
      } finally {
        workspace.cleanup();
      }
    });

  it('shows a host as it is asked for', () => {
    assert.equal(checkFetchUrl('https://аpple.com/ä b?x#part', false).href, 'https://xn--pple-43d.com/%C3%A4%20b?x');
  });

  it('a name that leads to this machine is refused when it is looked up, whatever it is called', async () => {
    await assert.rejects(resolveHostAddresses(new URL('http://localhost/'), false), { code: 'E_SANDBOX_VIOLATION' });
    assert.ok((await resolveHostAddresses(new URL('http://localhost/'), true)).length > 0);
  });
});

describe('tools: the text of a page', () => {
  const textOf = async (page: string) => (await pageText({ contentType: 'text/html', bytes: Buffer.from(page) })).text;

  const readable: [name: string, page: string, text: string][] = [
    ['a list in a list', '<ul><li>a<ol><li>b<li>c</ol><li>d</ul>', ' * a\n    1. b\n    2. c\n * d'],
    ['a quote of a quote', '<blockquote>a<br>b<blockquote>c</blockquote></blockquote>', '> a\n> b\n> \n> > c'],
    ['cells that claim a million columns', '<table><tr><td colspan=1000000 rowspan=1e9>a<td>b</table>', 'a   b'],
    ['a list that begins far away', '<ol type=i start=1e308><li>a</ol>', ' 1. a'],
  ];
  for (const [name, page, text] of readable) it(name, async () => assert.equal(await textOf(page), text));

  // Each of these grew with the square of the page, to gigabytes, or kept the editor busy for minutes.
  const hostile: [name: string, page: string][] = [
    ['a title that never ends', '<title'.repeat(100_000)],
    ['a wide cell above many rows', `<table><tr><td>${'w '.repeat(50_000)}<td>x${'<tr><td>a<td>b'.repeat(5000)}`],
    ['very deep lists', '<ul><li>'.repeat(240) + '<li>x'.repeat(20_000)],
    ['very deep quotes', '<blockquote>'.repeat(490) + 'x<br>'.repeat(20_000)],
  ];
  for (const [name, page] of hostile)
    it(`${name}: the text is not much longer than the page`, async () =>
      assert.ok((await textOf(page)).length <= page.length * 5));
});

describe('tools: web.fetch', () => {
  let workspace: TemporaryWorkspace;
  let server: Server;
  let other: Server;
  let base: string;
  let requests: IncomingMessage[];
  const answers: Record<string, RequestListener> = {
    '/hidden': (_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end('<title>a\u200bb</title><p>Read this.&#xE0072;&#xE0075;&#xE006E; 🙂 &#x202E;x');
    },
    '/page': (_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<html><head><title> The
          page </title><style>p { }</style></head><body><h1>Hello</h1><script>steal()</script>
          <p>One &amp; <a href="https://example.com/x">two</a>.</p><ul><li>a<li>b</ul><table><tr><th>k<th>v<tr><td>1<td>2</table></body></html>`,
      );
    },
    '/latin': (_, response) => {
      response.setHeader('content-type', 'text/plain; charset=iso-8859-1');
      response.end(Buffer.from('gr\xfcn', 'latin1'));
    },
    '/json': (_, response) => response.setHeader('content-type', 'application/json').end('{"a": 1}'),
    '/feed': (_, response) => response.setHeader('content-type', 'application/atom+xml').end('<feed/>'),
    '/picture': (_, response) => response.setHeader('content-type', 'image/png').end('x'),
    '/missing': (_, response) => response.writeHead(404).end('no'),
    '/gzip': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed')),
    '/deflate': (_, response) => response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateSync('packed')),
    '/br': (_, response) => response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync('packed')),
    '/lzma': (_, response) => response.writeHead(200, { 'content-encoding': 'lzma' }).end('packed'),
    '/damaged': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not packed'),
    '/bomb': (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50 * 1024 * 1024, 'a'))),
    '/long': (_, response) => response.end('word\n'.repeat(40_000)),
    '/endless': (_, response) => {
      const more = setInterval(() => response.write('more '), 5);
      response.on('close', () => clearInterval(more));
    },
    '/silent': () => {},
    '/there': (_, response) => response.writeHead(302, { location: '/json' }).end(),
    '/away': (_, response) => response.writeHead(301, { location: `${at(other)}/json` }).end(),
    '/round': (_, response) => response.writeHead(302, { location: '/round' }).end(),
    '/file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    '/nowhere': (_, response) => response.writeHead(302, { location: 'http://' }).end(),
  };
  const listen = async () => {
    const made = createServer((request, response) => {
      requests.push(request);
      (answers[request.url!] ?? answers['/missing']!)(request, response);
    });
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    return made;
  };
  const at = (one: Server) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
  const talk = (web: WebOptions = {}) =>
    conversation(workspace, { tools: builtinTools({ web: { allowPrivate: () => true, ...web } }) });
  const get = (path: string, web: WebOptions = {}) => talk(web).call('web.fetch', { url: base + path });

  before(async () => {
    requests = [];
    workspace = await temporaryWorkspace();
    [server, other] = [await listen(), await listen()];
    base = at(server);
  });
  beforeEach(() => {
    requests = [];
  });
  after(() => {
    workspace.cleanup();
    for (const one of [server, other]) one.close().closeAllConnections();
  });

  it('asks with the whole address; a grant covers the site', async () => {
    const talking = conversation(workspace, {
      answer: 'allow-run',
      tools: builtinTools({ web: { allowPrivate: () => true } }),
    });
    await talking.call('web.fetch', { url: `${base}/json?x=1#part` });
    await talking.call('web.fetch', { url: `${base}/latin` });
    assert.deepEqual(
      talking.asked.map(({ plan: { what, where, grant } }) => ({ what, where, grant })),
      [
        {
          what: `Fetch a page of ${new URL(base).host}`,
          where: `GET ${base}/json?x=1`,
          grant: `web.fetch ${base}`,
        },
      ],
    );
    assert.deepEqual(
      requests.map(({ method, url, headers }) => [method, url, headers.host, headers.cookie, headers.authorization]),
      [
        ['GET', '/json?x=1', new URL(base).host, undefined, undefined],
        ['GET', '/latin', new URL(base).host, undefined, undefined],
      ],
    );
  });

  it('a rule about a site is asked nothing more there, and says so', async () => {
    const rules = [{ scope: 'user' as const, effect: 'allow' as const, tool: 'web.fetch', site: base }];
    const tools = builtinTools({ web: { allowPrivate: () => true } });
    const talking = conversation(workspace, { answer: 'deny', tools, policy: { rules } });
    await data(talking.call('web.fetch', { url: `${base}/json` }));
    assert.equal((await error(talking.call('web.fetch', { url: `${at(other)}/json` }))).code, 'TOOL_DENIED');
    assert.deepEqual(
      talking.events.flatMap((event) => (event.type === 'approval' ? [event.automatic ?? event.decision] : [])),
      [`Allowed by your rule “web.fetch ${base}”.`, 'deny'],
    );
  });

  it('gives a page without its markup and scripts', async () => {
    assert.deepEqual(await data(get('/page')), {
      url: `${base}/page`,
      bytes: 262,
      contentType: 'text/html; charset=utf-8',
      title: 'The page',
      text: 'Hello\n\nOne & two <https://example.com/x>.\n\n * a\n * b\n\nk   v\n1   2',
    });
  });

  it('marks what is hidden in a page and in its title', async () => {
    const { title, text } = await data<{ title: string; text: string }>(get('/hidden'));
    assert.deepEqual([title, text], ['a⟨U+200B⟩b', 'Read this.⟨hidden text: run⟩ 🙂 ⟨U+202E⟩x']);
  });

  const texts: [path: string, text: string][] = [
    ['/latin', 'grün'],
    ['/json', '{"a": 1}'],
    ['/feed', '<feed/>'],
    ['/gzip', 'packed'],
    ['/deflate', 'packed'],
    ['/br', 'packed'],
  ];
  for (const [path, text] of texts) it(`${path} is read`, async () => assert.equal((await data(get(path))).text, text));

  const failures: [path: string, code: string, message: RegExp, options?: WebOptions][] = [
    ['/picture', 'E_READ_LIMIT', /image\/png, and only text/],
    ['/missing', 'TOOL_EXEC_FAILED', /answered 404 Not Found/],
    ['/bomb', 'E_READ_LIMIT', /larger than 2048 KiB/],
    ['/lzma', 'E_READ_LIMIT', /packed in an unknown way \(lzma\)/],
    ['/damaged', 'TOOL_EXEC_FAILED', /could not be fetched: the data is damaged\.$/],
    ['/endless', 'TOOL_TIMEOUT', /did not answer in full within 0.2 s/, { timeout: 200 }],
    ['/silent', 'TOOL_TIMEOUT', /did not answer in full within 0.2 s/, { timeout: 200 }],
    ['/round', 'TOOL_EXEC_FAILED', /redirects more than 5 times/],
    ['/file', 'E_SANDBOX_VIOLATION', /Only http and https/],
    ['/nowhere', 'TOOL_EXEC_FAILED', /redirects to something that is no address/],
  ];
  for (const [path, code, message, options] of failures)
    it(`${path} fails in words`, async () => {
      const failed = await error(get(path, options));
      assert.equal(failed.code, code);
      assert.match(failed.message, message);
    });

  it('follows redirects of the site that was asked about, and names one to another site without going there', async () => {
    assert.deepEqual((await data(get('/there'))).redirects, [`${base}/json`]);
    const gone = requests.length;
    const failed = await get('/away');
    assert.deepEqual(failed, {
      ok: false,
      error: {
        code: 'TOOL_EXEC_FAILED',
        message: `It redirects to another site, which nobody was asked about: ${at(other)}/json. Fetch that address.`,
        details: { redirect: `${at(other)}/json` },
      },
    });
    assert.equal(requests.length, gone + 1);
  });

  it('is checked again when it is connected to, after the question: the connection is never made', async () => {
    let asked = 0;
    const failed = await error(get('/json', { allowPrivate: () => asked++ === 0 }));
    assert.deepEqual([failed.code, failed.reason], ['E_SANDBOX_VIOLATION', 'PRIVATE_ADDRESS']);
    assert.deepEqual(requests, []);
  });

  it('of a long page both ends are told, and the rest can be read on', async () => {
    const talking = talk();
    const { text, cut, outputId } = await data<Record<string, string>>(
      talking.call('web.fetch', { url: `${base}/long` }),
    );
    assert.match(text!, /^word\n[\s\S]*… \d+ bytes in the middle are left out here …[\s\S]*word\n$/);
    assert.match(cut!, new RegExp(`read them with output.read and the id ${outputId}`));
    const read = await data(talking.call('output.read', { id: outputId, offset: 20_000, limit: 1 }));
    assert.deepEqual([read.text, read.totalLines], ['word', 40_000]);
  });

  for (const path of ['/silent', '/endless'])
    it(`${path} is stopped at once`, async () => {
      const talking = talk();
      const done = talking.call('web.fetch', { url: base + path });
      while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const closed = new Promise((resolve) => requests[0]!.once('close', resolve));
      talking.stop.abort();
      assert.equal((await error(done)).code, 'TOOL_INTERRUPTED');
      await closed;
    });

  it('a server that is not there', async () => {
    const gone = await listen();
    const url = at(gone);
    await new Promise((resolve) => gone.close(resolve));
    const failed = await error(talk().call('web.fetch', { url }));
    assert.deepEqual(
      [failed.code, failed.message],
      ['TOOL_EXEC_FAILED', 'The page could not be fetched: the connection was refused.'],
    );
  });
});

describe('tools: pages made to be hard to read', () => {
  const read = (body: string) => pageText({ contentType: 'text/html', bytes: Buffer.from(body) });
  const pages: [name: string, body: string, text: string][] = [
    ['nested without end', `${'<div>'.repeat(300_000)}deep`, 'deep'],
    ['links that never close', `${'<a href=x>'.repeat(100_000)}deep`, 'deep'],
    ['closing tags in attributes', `${'<i a="</i>">'.repeat(100_000)}deep`, 'deep'],
    ['tags that never end', `${'<b '.repeat(300_000)}`, ''],
    ['scripts that never end', `shown${'<script>'.repeat(100_000)}`, 'shown'],
  ];
  for (const [name, body, text] of pages) it(name, async () => assert.equal((await read(body)).text.trim(), text));

  it('lists and paragraphs that are not closed are no nesting', () => {
    assert.deepEqual(scanHtmlNesting('<ul><li>a<li>b<p>c<p>d<br></ul><table><tr><td>e<tr><td>f</table>').depth, 1);
  });
});
