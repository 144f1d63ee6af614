/**
 * Syntax of tool calls written as text, by model family. A blank matches any blanks and line breaks, `( … )` a group: `?` optional, `*` and
 * `+` repeated. `{name}` is the tool, `{args}` a JSON object of arguments, `{json}` objects that name their tool, `{keyed}` objects with
 * the tool's name as key, `{python}` calls in Python syntax, `{literal}` Gemma's object; `{key}` and `{value}` are an argument, with the
 * value up to the next mark. `{attributes}`, `{word}` and `{id}` are skipped. `{prefix}` is the prefix of a family's tag names, `{family}`
 * the prefix of call tags only. `{quote}` is optional. DeepSeek's special letters count as `|` and `_`.
 *
 * Sources: the chat templates in the engine's source bundle, which a test renders, and the tool parsers of vLLM and SGLang.
 */
export const textToolCallSyntaxes: readonly { families: string; form: string }[] = [
  {
    families: 'Hermes, Qwen, Granite 4, Bielik, Reka, MiMo, ERNIE, dots',
    form: '<{family}{section}> {json} </{family}{section}>',
  },
  { families: 'MiniMax M1, Hunyuan A13B, Apriel, Jamba', form: '<tool_calls>( {json})+ </tool_calls>' },
  {
    families: 'K2 Horizon, with JSON',
    form: '<{family}tool_calls>( <{family}tool_call> {json} </{family}tool_call>)+ </{family}tool_calls>',
  },
  { families: 'Qwen 2.5 Coder', form: '<tools> {json} </tools>' },
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
    families: 'GLM 4.5 to 5, Laguna, Ling, LongCat, Spark, HyperCLOVA, IQuest',
    form: '<{family}tool_call> {name}(\\n)?( <{family}arg_key>{key}</{family}arg_key>( <{family}arg_type>{word}</{family}arg_type>)? <{family}arg_value>{value}</{family}arg_value>)* </{family}tool_call>',
  },
  { families: 'Step Audio', form: '<{family}tool_call> (function )?{name} {args} </{family}tool_call>' },
  {
    families: 'Hunyuan 3, K2 Horizon',
    form: '<{family}tool_calls{suffix}>( <{family}tool_call{suffix}> {name}(<tool_sep{suffix}>)?( <{family}arg_key{suffix}>{key}</{family}arg_key{suffix}>( <{family}arg_type>{word}</{family}arg_type>)? <{family}arg_value{suffix}>{value}</{family}arg_value{suffix}>)* </{family}tool_call{suffix}>)+ </{family}tool_calls{suffix}>',
  },
  {
    families: 'DeepSeek 3.2 and 4, MiniMax M2, Muse, GigaChat 3.5, dots, and tags with a prefix',
    form: '<{prefix}{family}{section}>( <{prefix}invoke name={quote}{name}{quote}{attributes}>( <{prefix}parameter name={quote}{key}{quote}{attributes}>{value}</{prefix}parameter>)* </{prefix}invoke>)+( </{prefix}{family}{section}>)?',
  },
  {
    families: 'the same without a section',
    form: '<{prefix}invoke name={quote}{name}{quote}{attributes}>( <{prefix}parameter name={quote}{key}{quote}{attributes}>{value}</{prefix}parameter>)* </{prefix}invoke>( </{prefix}{family}{section}>)?',
  },
  {
    families: 'MiniMax M3',
    form: ']<]minimax[>[<tool_call>( ]<]minimax[>[<invoke name="{name}">( ]<]minimax[>[<{key}>{value}]<]minimax[>[</{word}>)* ]<]minimax[>[</invoke>)+ ]<]minimax[>[</tool_call>',
  },
  {
    families: 'MiniCPM 4 and 5',
    form: '<function name={quote}{name}{quote}>( <arguments>)?( <param name={quote}{key}{quote}>{value}</param>)*( </arguments>)? </function>',
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
  { families: 'Pangu 2', form: '<|tool_call_start|> {json} <|tool_call_end|>' },
  { families: 'Llama 4', form: '<|python_start|> {python} <|python_end|>' },
  {
    families: 'Inkling',
    form: '(<|end_message|> )?(<|message_model|>{id} )?<|content_invoke_tool_json|> {json}( <|end_message|>)?',
  },
  {
    families: 'PLaMo 3',
    form: '<|plamo:begin_tool_requests:plamo|>( <|plamo:begin_tool_request:plamo|> <|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|> <|plamo:begin_tool_arguments:plamo|>(<|plamo:constrain|>json<|plamo:msg|>)? {args} <|plamo:end_tool_arguments:plamo|> <|plamo:end_tool_request:plamo|>)+ <|plamo:end_tool_requests:plamo|>',
  },
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
