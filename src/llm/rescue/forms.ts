/**
 * Forms in which model families write calls as text. A blank stands for any number of blanks and line breaks, `( … )` for a group: `?`
 * may be absent, `*` and `+` repeat. `{name}` is the tool, `{args}` a JSON object of arguments, `{json}` objects that name their tool
 * themselves, `{keyed}` objects with the tool's name as key, `{python}` calls as Python writes them, `{literal}` Gemma's object; `{key}`
 * and `{value}` are an argument, the value up to the mark behind it; `{attributes}`, `{word}` and `{id}` are passed over, and `{prefix}` is
 * what a family puts before the names of its tags. DeepSeek's own letters count as `|` and `_`.
 *
 * Sources: the chat templates in the engine's source bundle, which a test renders, and the tool parsers of vLLM and SGLang.
 */
export const forms: readonly { families: string; form: string }[] = [
  { families: 'Hermes, Qwen, Granite 4, Bielik, Reka, MiMo, ERNIE', form: '<tool_call> {json} </tool_call>' },
  {
    families: 'Qwen Coder, Nemotron 3, StepFun',
    form: '<tool_call> <function={name}>( <parameter={key}>{value}</parameter>)* </function> </tool_call>',
  },
  { families: 'Qwen Coder with JSON', form: '<tool_call> <function={name}> {args} </function> </tool_call>' },
  {
    families: 'Qwen Coder without its opening mark',
    form: '<function={name}>( <parameter={key}>{value}</parameter>)* </function>( </tool_call>)?',
  },
  { families: 'Llama, Functionary 3.1', form: '<function={name}> {args} </function>( </tool_call>)?' },
  {
    families: 'Seed-OSS',
    form: '<seed:tool_call> <function={name}>( <parameter={key}>{value}</parameter>)* </function> </seed:tool_call>',
  },
  {
    families: 'GLM 4.5 to 5, Laguna, Ling',
    form: '<tool_call> {name}( <arg_key>{key}</arg_key> <arg_value>{value}</arg_value>)* </tool_call>',
  },
  {
    families: 'LongCat',
    form: '<longcat_tool_call> {name}( <longcat_arg_key>{key}</longcat_arg_key> <longcat_arg_value>{value}</longcat_arg_value>)* </longcat_tool_call>',
  },
  {
    families: 'Hunyuan 3',
    form: '<tool_calls{suffix}>( <tool_call{suffix}> {name}<tool_sep{suffix}>( <arg_key{suffix}>{key}</arg_key{suffix}> <arg_value{suffix}>{value}</arg_value{suffix}>)* </tool_call{suffix}>)+ </tool_calls{suffix}>',
  },
  { families: 'MiniMax M1, Hunyuan A13B, Apriel, Jamba', form: '<tool_calls>( {json})+ </tool_calls>' },
  {
    families: 'DeepSeek 3.2 and 4, MiniMax M2, Muse, and tags with a prefix',
    form: '<{prefix}{section}>( <{prefix}invoke name="{name}"{attributes}>( <{prefix}parameter name="{key}"{attributes}>{value}</{prefix}parameter>)* </{prefix}invoke>)+( </{prefix}{section}>)?',
  },
  {
    families: 'the same without a section',
    form: '<{prefix}invoke name="{name}"{attributes}>( <{prefix}parameter name="{key}"{attributes}>{value}</{prefix}parameter>)* </{prefix}invoke>( </{prefix}{section}>)?',
  },
  {
    families: 'MiniMax M3',
    form: ']<]minimax[>[<tool_call>( ]<]minimax[>[<invoke name="{name}">( ]<]minimax[>[<{key}>{value}]<]minimax[>[</{word}>)* ]<]minimax[>[</invoke>)+ ]<]minimax[>[</tool_call>',
  },
  {
    families: 'MiniCPM 5',
    form: '<function name="{name}">( <param name="{key}">{value}</param>)* </function>',
  },
  {
    families: 'DeepSeek 3 and R1',
    form: '<|tool_calls_begin|>( <|tool_call_begin|>(function<|tool_sep|>)?{name}(<|tool_sep|>)? (```json )?{args} (``` )?<|tool_call_end|>)+( <|tool_calls_end|>)?',
  },
  {
    families: 'Step 3',
    form: '<|tool_calls_begin|>( <|tool_call_begin|>(function<|tool_sep|>)?<{prefix}invoke name="{name}">( <{prefix}parameter name="{key}">{value}</{prefix}parameter>)* </{prefix}invoke> <|tool_call_end|>)+( <|tool_calls_end|>)?',
  },
  {
    families: 'Kimi K2',
    form: '(<|tool_calls_section_begin|> )?<|tool_call_begin|> {name} <|tool_call_argument_begin|> {args} <|tool_call_end|>( <|tool_call_begin|> {name} <|tool_call_argument_begin|> {args} <|tool_call_end|>)*( <|tool_calls_section_end|>)?',
  },
  {
    families: 'Kimi K3',
    form: '<|open|>tools<|sep|>( <|open|>call tool="{name}"{attributes}<|sep|>( <|open|>argument key="{key}"{attributes}<|sep|>{value}<|close|>argument<|sep|>)* <|close|>call<|sep|>)+ <|close|>tools<|sep|>( <|close|>message<|sep|>)?',
  },
  {
    families: 'Solar',
    form: '<|tool_calls|>( <|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|> {args} <|tool_call:end|>)+( <|calls|>)?',
  },
  { families: 'Mistral', form: '[TOOL_CALLS] {json}' },
  { families: 'newer Mistral', form: '[TOOL_CALLS] {name}([CALL_ID]{id})?([ARGS])? {args}' },
  { families: 'Llama 3', form: '<|python_tag|> {json}( ; {json})*' },
  { families: 'Nemotron Nano', form: '<TOOLCALL> {json} </TOOLCALL>' },
  { families: 'Cohere', form: '<|START_ACTION|> {json} <|END_ACTION|>' },
  { families: 'InternLM', form: '<|action_start|>(<|plugin|>)? {json} <|action_end|>' },
  { families: 'Granite 3, Phi 4', form: '<|tool_call|> {json}( <|/tool_call|>)?' },
  { families: 'Granite with functions', form: '<function_call> {json}( </function_call>)?' },
  { families: 'GigaChat', form: '<|function_call|> {json}( <|message_sep|>)?' },
  { families: 'Pangu', form: '[unused11] {json} [unused12]' },
  { families: 'Phi 4 mini, FireFunction', form: 'functools {json}' },
  { families: 'Functionary 3.2', form: '>>>{name} {args}' },
  { families: 'Apertus', form: '<|tools_prefix|> {keyed} <|tools_suffix|>' },
  { families: 'LFM 2', form: '<|tool_call_start|> {python} <|tool_call_end|>' },
  { families: 'OLMo 3', form: '<function_calls> {python} </function_calls>' },
  { families: 'Gemma 4', form: '<|tool_call>call:{name} {literal} <tool_call|>' },
  { families: 'FunctionGemma', form: '<start_function_call>call:{name} {literal} <end_function_call>' },
  {
    families: 'gpt-oss',
    form: '(<|start|>assistant)?<|channel|>{word} to={name} (<|constrain|>)?({word} )?<|message|> {args}( <|call|>)?',
  },
  {
    families: 'gpt-oss with the tool before the channel',
    form: '<|start|>assistant to={name}( <|channel|>{word})? (<|constrain|>)?({word} )?<|message|> {args}( <|call|>)?',
  },
  {
    families: 'gpt-oss, whose role stands in the prompt',
    form: 'to={name}( <|channel|>{word})? (<|constrain|>)?({word} )?<|message|> {args}( <|call|>)?',
  },
  {
    families: 'Muse',
    form: 'to={word}<|message|> <{prefix}{section}>( <{prefix}invoke name="{name}">( <{prefix}parameter name="{key}">{value}</{prefix}parameter>)* </{prefix}invoke>)+ </{prefix}{section}>',
  },
  { families: 'GigaChat 3', form: 'function call<|role_sep|> {json}( <|message_sep|>)?' },
];
