import type { ToolDefinition } from '../../../src/protocol/content/tools.ts';

export const tools: ToolDefinition[] = [
  {
    name: 'fs.read',
    description: '',
    parameters: { type: 'object', properties: { path: { type: 'string' }, from: { type: 'integer' } } },
  },
  {
    name: 'fs.write',
    description: '',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' }, force: { type: 'boolean' } },
    },
  },
  { name: 'plan.update', description: '', parameters: { type: 'object' } },
];

/** What a message turns out to be: the text that stays, and its calls as `[name, arguments]`, or the name alone: malformed. */
export interface RescueCase {
  says: string;
  text: string;
  content?: string;
  calls: ([name: string, args: object] | string)[];
}

const readA: [string, object] = ['fs.read', { path: 'a.txt' }];
const readB: [string, object] = ['fs.read', { path: 'b.txt', from: 2 }];
const json = '{"name": "fs_read", "arguments": {"path": "a.txt"}}';
const jsonB = '{"name": "fs_read", "arguments": {"path": "b.txt", "from": 2}}';
const fence = (info: string, body: string) => `\`\`\`${info}\n${body}\n\`\`\``;

export const families: RescueCase[] = [
  { says: 'Hermes', text: `<tool_call>\n${json}\n</tool_call>`, calls: [readA] },
  { says: 'Hermes on one line', text: `<tool_call>${json}</tool_call>`, calls: [readA] },
  {
    says: 'Hermes behind words, two calls, an end mark that leaked',
    text: `Let me see 🙂.\n\n<tool_call>\n${json}\n</tool_call>\n<tool_call>\n${jsonB}\n</tool_call><|im_end|>`,
    content: 'Let me see 🙂.\n\n',
    calls: [readA, readB],
  },
  {
    says: 'Hermes, calls without a line between',
    text: `<tool_call>${json}</tool_call><tool_call>${jsonB}</tool_call>`,
    calls: [readA, readB],
  },
  {
    says: 'Hermes with words behind it on lines of their own',
    text: `<tool_call>${json}</tool_call>\n\nThen I go on.`,
    content: 'Then I go on.',
    calls: [readA],
  },
  {
    says: 'dotted names',
    text: '<tool_call>{"name": "fs.read", "arguments": {"path": "a.txt"}}</tool_call>',
    calls: [readA],
  },
  {
    says: 'arguments as text',
    text: '<tool_call>{"name": "fs_read", "arguments": "{\\"path\\": \\"a.txt\\"}"}</tool_call>',
    calls: [readA],
  },
  {
    says: 'arguments first',
    text: '<tool_call>{"arguments": {"path": "a.txt"}, "name": "fs_read"}</tool_call>',
    calls: [readA],
  },
  { says: 'no arguments', text: '<tool_call>{"name": "plan_update"}</tool_call>', calls: [['plan.update', {}]] },
  {
    says: 'the end mark inside a string',
    text: '<tool_call>{"name": "fs_write", "arguments": {"path": "a", "content": "</tool_call>\\n```"}}</tool_call>',
    calls: [['fs.write', { path: 'a', content: '</tool_call>\n```' }]],
  },
  { says: 'Llama function', text: '<function=fs_read>{"path": "a.txt"}</function>', calls: [readA] },
  { says: 'Llama function without arguments', text: '<function=plan_update></function>', calls: [['plan.update', {}]] },
  {
    says: 'Qwen-Coder',
    text: '<tool_call>\n<function=fs_read>\n<parameter=path>\nb.txt\n</parameter>\n<parameter=from>\n2\n</parameter>\n</function>\n</tool_call>',
    calls: [readB],
  },
  {
    says: 'Qwen-Coder without the opening mark, types by the schema',
    text: 'Writing.\n<function=fs_write>\n<parameter=path>7</parameter>\n<parameter=content>\n  one\n\n</parameter>\n<parameter=force>true</parameter>\n</function>\n</tool_call>',
    content: 'Writing.\n',
    calls: [['fs.write', { path: '7', content: '  one\n', force: true }]],
  },
  { says: 'Mistral', text: `[TOOL_CALLS] [${json}, ${jsonB}]`, calls: [readA, readB] },
  { says: 'Mistral with an end mark', text: `[TOOL_CALLS][${json}]</s>`, calls: [readA] },
  { says: 'newer Mistral', text: '[TOOL_CALLS]fs_read[ARGS]{"path": "a.txt"}', calls: [readA] },
  {
    says: 'newer Mistral, two calls, one with an id',
    text: '[TOOL_CALLS]fs_read[CALL_ID]abc123XYZ[ARGS]{"path": "a.txt"}[TOOL_CALLS]fs_read[ARGS]{"path": "b.txt", "from": 2}',
    calls: [readA, readB],
  },
  {
    says: 'DeepSeek V3',
    text: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>fs_read\n${fence('json', '{"path": "a.txt"}')}<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>fs_read\n${fence('json', '{"path": "b.txt", "from": 2}')}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>`,
    calls: [readA, readB],
  },
  {
    says: 'DeepSeek V3.1',
    text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>fs_read<｜tool▁sep｜>{"path": "a.txt"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    calls: [readA],
  },
  {
    says: 'DeepSeek with plain letters',
    text: '<|tool_calls_begin|><|tool_call_begin|>fs_read<|tool_sep|>{"path": "a.txt"}<|tool_call_end|><|tool_calls_end|>',
    calls: [readA],
  },
  { says: 'Gemma tool_code', text: fence('tool_code', 'fs_read(path="b.txt", from=2)'), calls: [readB] },
  {
    says: 'Gemma tool_code, printed, with every literal',
    text: `I look.\n${fence('tool_code', `print(default_api.plan_update(a='it\\'s', b=[1, -2.5e1, None,], c={"d": True, 'e': False}, f="""two\n"lines" \\u00e9"""))`)}\n`,
    content: 'I look.\n',
    calls: [['plan.update', { a: "it's", b: [1, -25, null], c: { d: true, e: false }, f: 'two\n"lines" é' }]],
  },
  {
    says: 'Gemma tool_code, two lines',
    text: fence('tool_code', 'fs_read(path="a.txt")\nfs.read(path="b.txt", from=2)'),
    calls: [readA, readB],
  },
  {
    says: 'DeepSeek V3.2',
    text: 'I look first.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="fs_read">\n<｜DSML｜parameter name="path" string="true">b.txt</｜DSML｜parameter>\n<｜DSML｜parameter name="from" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    content: 'I look first.\n\n',
    calls: [readB],
  },
  {
    says: 'DeepSeek V4, two calls',
    text: '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="fs_read">\n<｜DSML｜parameter name="path" string="true">a.txt</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="fs_read">\n<｜DSML｜parameter name="path" string="true">b.txt</｜DSML｜parameter>\n<｜DSML｜parameter name="from" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls><｜end▁of▁sentence｜>',
    calls: [readA, readB],
  },
  {
    says: 'a text that DSML says is one, where the schema takes any',
    text: '<｜DSML｜invoke name="plan_update"><｜DSML｜parameter name="a" string="true">1</｜DSML｜parameter><｜DSML｜parameter name="b" string="false">[1]</｜DSML｜parameter></｜DSML｜invoke>',
    calls: [['plan.update', { a: '1', b: [1] }]],
  },
  {
    says: 'GLM 4.6',
    text: '<tool_call>fs_read\n<arg_key>path</arg_key>\n<arg_value>b.txt</arg_value>\n<arg_key>from</arg_key>\n<arg_value>2</arg_value>\n</tool_call>',
    calls: [readB],
  },
  {
    says: 'GLM 4.7, behind words on the same line',
    text: 'I look.<tool_call>fs_read<arg_key>path</arg_key><arg_value>a.txt</arg_value></tool_call><tool_call>plan_update</tool_call>',
    content: 'I look.',
    calls: [readA, ['plan.update', {}]],
  },
  {
    says: 'LongCat',
    text: '<longcat_tool_call>fs_read\n<longcat_arg_key>path</longcat_arg_key>\n<longcat_arg_value>a.txt</longcat_arg_value>\n</longcat_tool_call>',
    calls: [readA],
  },
  {
    says: 'Hunyuan 3',
    text: '<tool_calls:opensource>\n<tool_call:opensource>fs_read<tool_sep:opensource>\n<arg_key:opensource>path</arg_key:opensource>\n<arg_value:opensource>a.txt</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>',
    calls: [readA],
  },
  {
    says: 'Kimi K2',
    text: '<|tool_calls_section_begin|><|tool_call_begin|>functions.fs_read:0<|tool_call_argument_begin|>{"path": "a.txt"}<|tool_call_end|><|tool_call_begin|>functions.fs_read:1<|tool_call_argument_begin|>{"path": "b.txt", "from": 2}<|tool_call_end|><|tool_calls_section_end|><|im_end|>',
    calls: [readA, readB],
  },
  {
    says: 'Kimi K3',
    text: '<|open|>tools<|sep|><|open|>call tool="fs_read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>b.txt<|close|>argument<|sep|><|open|>argument key="from" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
    calls: [readB],
  },
  {
    says: 'MiniMax M1',
    text: `<tool_calls>\n${json}\n${jsonB}\n</tool_calls>`,
    calls: [readA, readB],
  },
  {
    says: 'MiniMax M2',
    text: '<minimax:tool_call>\n<invoke name="fs_read">\n<parameter name="path">b.txt</parameter>\n<parameter name="from">2</parameter>\n</invoke>\n</minimax:tool_call>',
    calls: [readB],
  },
  {
    says: 'MiniMax M3',
    text: ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="fs_read">]<]minimax[>[<path>b.txt]<]minimax[>[</path>]<]minimax[>[<from>2]<]minimax[>[</from>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    calls: [readB],
  },
  {
    says: 'tags with a prefix, and without a section',
    text: '<atem:invoke name="fs_read">\n<atem:parameter name="path">\na.txt\n</atem:parameter>\n</atem:invoke>',
    calls: [readA],
  },
  {
    says: 'DSML with the marks of another family in a value',
    text: '<｜DSML｜invoke name="fs_write"><｜DSML｜parameter name="path" string="true">a</｜DSML｜parameter><｜DSML｜parameter name="content" string="true"><tool_call>\n<function=x></function></｜DSML｜parameter></｜DSML｜invoke>',
    calls: [['fs.write', { path: 'a', content: '<tool_call>\n<function=x></function>' }]],
  },
  {
    says: 'MiniCPM 5',
    text: '<function name="fs_write"><param name="path">a</param><param name="content"><![CDATA[<b>\n&]]></param></function>',
    calls: [['fs.write', { path: 'a', content: '<b>\n&' }]],
  },
  {
    says: 'Seed-OSS',
    text: '<seed:tool_call>\n<function=fs_read>\n<parameter=path>a.txt</parameter>\n</function>\n</seed:tool_call>',
    calls: [readA],
  },
  {
    says: 'gpt-oss',
    text: '<|channel|>commentary to=functions.fs_read <|constrain|>json<|message|>{"path":"a.txt"}<|call|>',
    calls: [readA],
  },
  {
    says: 'gpt-oss with the tool before the channel',
    text: '<|start|>assistant to=functions.fs_read<|channel|>commentary json<|message|>{"path": "a.txt"}<|call|>',
    calls: [readA],
  },
  {
    says: 'Gemma 4',
    text: '<|tool_call>call:fs_read{from:2,path:<|"|>b.txt<|"|>}<tool_call|>',
    calls: [['fs.read', { from: 2, path: 'b.txt' }]],
  },
  {
    says: 'FunctionGemma',
    text: '<start_function_call>call:fs_read{path:<escape>a.txt<escape>}<end_function_call>',
    calls: [readA],
  },
  {
    says: 'LFM 2',
    text: 'I look.<|tool_call_start|>[fs_read(path="a.txt"), fs_read(path=\'b.txt\', from=2)]<|tool_call_end|>',
    content: 'I look.',
    calls: [readA, readB],
  },
  {
    says: 'OLMo 3',
    text: '<function_calls>\nfs_read(path="a.txt")\nfs_read(path="b.txt", from=2)\n</function_calls>',
    calls: [readA, readB],
  },
  { says: 'Nemotron Nano', text: `<TOOLCALL>[${json}]</TOOLCALL>`, calls: [readA] },
  {
    says: 'Cohere',
    text: '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "fs_read", "parameters": {"path": "a.txt"}}\n]<|END_ACTION|>',
    calls: [readA],
  },
  { says: 'Apertus', text: '<|tools_prefix|>[{"fs_read": {"path": "a.txt"}}]<|tools_suffix|>', calls: [readA] },
  { says: 'Granite 3', text: `<|tool_call|>[${json}]`, calls: [readA] },
  { says: 'Phi 4 mini', text: `functools[${json}]`, calls: [readA] },
  { says: 'Functionary 3.2', text: '>>>fs_read\n{"path": "a.txt"}', calls: [readA] },
  {
    says: 'Solar',
    text: '<|tool_calls|><|tool_call:begin|>call1<|tool_call:name|>fs_read<|tool_call:args|>{"path": "a.txt"}<|tool_call:end|><|calls|>',
    calls: [readA],
  },
  {
    says: 'a prefix before the name in a known mark',
    text: '<tool_call>{"name": "functions.fs_read", "arguments": {"path": "a.txt"}}</tool_call>',
    calls: [readA],
  },
  {
    says: 'a call in a fence of any language',
    text: `Reading.\n\n${fence('xml', `<tool_call>\n${json}\n</tool_call>`)}`,
    content: 'Reading.\n\n',
    calls: [readA],
  },
  { says: 'JSON in a fence of any language', text: fence('text', json), calls: [readA] },
  { says: 'fenced JSON', text: `Sure.\n\n${fence('json', json)}`, content: 'Sure.\n\n', calls: [readA] },
  { says: 'fenced JSON, an array', text: fence('json', `[${json},\n ${jsonB}]`), calls: [readA, readB] },
  { says: 'fences one after another', text: `${fence('json', json)}\n\n${fence('', jsonB)}\n`, calls: [readA, readB] },
  {
    says: 'Llama',
    text: '<|python_tag|>{"name": "fs_read", "parameters": {"path": "a.txt"}}<|eom_id|>',
    calls: [readA],
  },
  { says: 'Llama, several', text: `<|python_tag|>${json}; ${jsonB}`, calls: [readA, readB] },
  { says: 'bare JSON', text: '{"name": "fs_read", "parameters": {"path": "a.txt"}}', calls: [readA] },
  { says: 'bare JSON with blanks around', text: `\n\n  ${json}\n \n`, calls: [readA] },
  {
    says: 'bare JSON in OpenAI’s own form',
    text: '{"type": "function", "function": {"name": "fs_read", "arguments": {"path": "a.txt"}}}',
    calls: [readA],
  },
  {
    says: 'bare JSON with a type',
    text: '{"type": "function", "name": "fs_read", "parameters": {"path": "a.txt"}}',
    calls: [readA],
  },
  { says: 'bare JSON, several', text: `${json}\n${jsonB}`, calls: [readA, readB] },
];

/** Damaged: told to the model, never run. */
export const damaged: RescueCase[] = [
  {
    says: 'bad JSON',
    text: '<tool_call>{"name": "fs_read", "arguments": {path: "a"}}</tool_call>',
    calls: ['fs.read'],
  },
  {
    says: 'a missing bracket',
    text: '<tool_call>{"name": "fs_read", "arguments": {"path": "a"}</tool_call>',
    calls: ['fs.read'],
  },
  {
    says: 'a key given twice',
    text: '<tool_call>{"name": "fs_read", "arguments": {"path": "a", "path": "b"}}</tool_call>',
    calls: ['fs.read'],
  },
  {
    says: 'a key that nobody knows',
    text: '<tool_call>{"name": "fs_read", "argument": {"path": "a"}}</tool_call>',
    calls: ['fs.read'],
  },
  {
    says: 'arguments and parameters',
    text: '<tool_call>{"name": "fs_read", "arguments": {}, "parameters": {}}</tool_call>',
    calls: ['fs.read'],
  },
  {
    says: 'arguments that are a list',
    text: '<tool_call>{"name": "fs_read", "arguments": ["a"]}</tool_call>',
    calls: ['fs.read'],
  },
  { says: 'no end mark', text: `<tool_call>\n${json}\n`, calls: ['fs.read'] },
  {
    says: 'the second begun before the first ended',
    text: `<tool_call>${json}<tool_call>${json}</tool_call>`,
    calls: ['fs.read'],
  },
  {
    says: 'Qwen-Coder with its own marks in a value',
    text: '<function=fs_write>\n<parameter=content>\n<parameter=x>1</parameter>\n</function>\n</parameter>\n</function>',
    calls: ['fs.write'],
  },
  {
    says: 'Qwen-Coder whose value looks like the end',
    text: '<function=fs_write>\n<parameter=content>\nsee </parameter>\n</function>\nfor the end\n</parameter>\n</function>',
    calls: ['fs.write'],
  },
  {
    says: 'a parameter given twice',
    text: '<function=fs_read><parameter=path>a</parameter><parameter=path>b</parameter></function>',
    calls: ['fs.read'],
  },
  {
    says: 'Qwen-Coder without its outer end',
    text: '<tool_call><function=fs_read><parameter=path>a</parameter></function>',
    calls: ['fs.read'],
  },
  {
    says: 'GLM whose value looks like the end',
    text: '<tool_call>fs_write<arg_key>content</arg_key><arg_value>see </arg_value></tool_call> for it</arg_value></tool_call>',
    calls: ['fs.write'],
  },
  {
    says: 'DSML cut in a value',
    text: '<｜DSML｜tool_calls><｜DSML｜invoke name="fs_write"><｜DSML｜parameter name="content" string="true">half',
    calls: ['fs.write'],
  },
  { says: 'Gemma 4 cut off', text: '<|tool_call>call:fs_read{path:<|"|>a', calls: ['fs.read'] },
  { says: 'LFM 2 without names', text: '<|tool_call_start|>[fs_read("a")]<|tool_call_end|>', calls: ['fs.read'] },
  { says: 'an array cut after its first call', text: `[TOOL_CALLS][${json}`, calls: ['fs.read'] },
  {
    says: 'DeepSeek cut in the second call',
    text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>fs_read<｜tool▁sep｜>{"path": "a.txt"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>fs_write<｜tool▁sep｜>{"path": "b',
    calls: [readA, 'fs.write'],
  },
  { says: 'Python that is more than literals', text: fence('tool_code', 'fs_read(path="a" + b)'), calls: ['fs.read'] },
  { says: 'Python without names', text: fence('tool_code', 'fs_read("a.txt")'), calls: ['fs.read'] },
  { says: 'a fence that is not closed', text: `\`\`\`json\n${json}`, calls: ['fs.read'] },
  {
    says: 'fenced bad JSON',
    text: fence('json', '{"name": "fs_read", "arguments": {"path": "a",}}'),
    calls: ['fs.read'],
  },
  {
    says: 'bare JSON cut off',
    text: '{"name": "fs_write", "arguments": {"path": "a", "content": "half',
    calls: ['fs.write'],
  },
];

/** Text, and nothing but text. */
export const quotes: { says: string; text: string }[] = [
  { says: 'prose about the mark', text: '<tool_call> is what Hermes models write before a call.' },
  { says: 'a call in the middle of a line', text: `Write <tool_call>${json}</tool_call> to read a file.` },
  { says: 'a call at the beginning of a sentence', text: `<tool_call>${json}</tool_call> is how to read a file.` },
  { says: 'a call in backticks', text: `\`<tool_call>${json}</tool_call>\`` },
  {
    says: 'a call in a fence with words behind it',
    text: `Like this:\n\n${fence('xml', `<tool_call>\n${json}\n</tool_call>`)}\n\nSo it is read.`,
  },
  {
    says: 'a call in a fence with other text in it',
    text: fence('xml', `<tool_call>\n${json}\n</tool_call>\n<!-- as Hermes writes it -->`),
  },
  { says: 'a call in a longer fence', text: `\`\`\`\`md\n\`\`\`\n<tool_call>${json}</tool_call>\n\`\`\`\n\`\`\`\`\n` },
  { says: 'a call in an indented block', text: `Like this:\n\n    <tool_call>${json}</tool_call>\n` },
  { says: 'a call in a quotation', text: `> <tool_call>${json}</tool_call>` },
  { says: 'a fence with words behind it', text: `${fence('json', json)}\n\nThat is how a call looks.` },
  { says: 'a fence with other code in it', text: fence('json', `${json}\n// and so on`) },
  { says: 'Python with words behind it', text: `${fence('tool_code', 'fs_read(path="a")')}\nreads a file.` },
  { says: 'Python that calls no tool', text: fence('tool_code', 'open(path="a")') },
  { says: 'bare JSON with words behind it', text: `${json}\n\nis the call.` },
  { says: 'bare JSON with words behind it on the line', text: `${json} is the call.` },
  { says: 'bare JSON of something else', text: '{"name": "towpath", "version": "1.0.0"}' },
  {
    says: 'the definition of a tool',
    text: '{"name": "fs_read", "description": "reads", "parameters": {"type": "object"}}',
  },
  { says: 'an unknown name', text: '<tool_call>{"name": "rm", "arguments": {"path": "a"}}</tool_call>' },
  {
    says: 'an unknown name that objects have',
    text: '<tool_call>{"name": "constructor", "arguments": {}}</tool_call>',
  },
  { says: 'an unknown function', text: '<function=rm>{"path": "a"}</function>' },
  { says: 'a function whose name only begins well', text: '<function=fs_read_all>{"path": "a"}</function>' },
  { says: 'unknown names for Mistral', text: '[TOOL_CALLS]rm[ARGS]{"path": "a"}' },
  { says: 'an unknown name for GLM', text: '<tool_call>rm<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>' },
  { says: 'an unknown name for tags', text: '<invoke name="rm"><parameter name="path">a</parameter></invoke>' },
  { says: 'HTML', text: 'See <b>this</b>, <function> and a < b [TODO] ]<] here.' },
  { says: 'prose about Mistral', text: '[TOOL_CALLS] marks the beginning.' },
  {
    says: 'unknown names for DeepSeek',
    text: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>rm<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  },
  { says: 'Llama’s Python', text: '<|python_tag|>print("hi")' },
  { says: 'a list', text: '[1, 2, 3]\n[link](https://example.com)\n- [ ] todo' },
  { says: 'only a beginning', text: 'See\n<tool_ca' },
  { says: 'only a mark', text: '<tool_call>\n' },
  { says: 'blanks', text: ' \n\n ' },
  {
    says: 'code',
    text: `${fence('ts', 'const a = { "name": 1 };')}\n\n~~~\n<function=fs_read>{}</function>\n~~~\ndone`,
  },
];
