export const chatTemplate = `{%- if messages[0].role == 'system' -%}{%- set head = messages[0].content -%}{%- else -%}{%- set head = 'You run a script.' -%}{%- endif -%}
{{- '<|im_start|>system\\n' + head -}}
{%- if tools -%}
{{- '\\n\\nTools, one JSON object a line:' -}}
{%- for tool in tools -%}{{- '\\n' + (tool | tojson) -}}{%- endfor -%}
{{- '\\nTo use one, write:\\n<tool_call>\\n{"name": "the name", "arguments": {}}\\n</tool_call>' -}}
{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- for message in messages -%}
{%- if message.role == 'user' -%}{{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' -}}
{%- elif message.role == 'assistant' -%}
{{- '<|im_start|>assistant' -}}{%- if message.content -%}{{- '\\n' + message.content -}}{%- endif -%}
{%- for call in (message.tool_calls or []) -%}{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' -}}{{- call.function.arguments | tojson -}}{{- '}\\n</tool_call>' -}}{%- endfor -%}
{{- '<|im_end|>\\n' -}}
{%- elif message.role == 'tool' -%}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' -%}{{- '<|im_start|>user' -}}{%- endif -%}
{{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' -}}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' -%}{{- '<|im_end|>\\n' -}}{%- endif -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`;
