// The engine alone, as a program that does the same: `node rawChat.mjs engine.mjs model.gguf wrapper`. Answers each line of JSON
// `{ systemPrompt, text, maxTokens }` with the text, the tokens of the prompt and of the answer, and seconds of CPU until the first token and in all;
// with `after`, a beginning of the answer, with the difference between the two best logits of the next token.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [engine, modelPath, type] = process.argv.slice(2);
const { getLlama, LlamaChat, resolveChatWrapper } = await import(pathToFileURL(engine).href);
const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'disabled' });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 8192, threads: 1 });
const sequence = context.getSequence();
const chatWrapper = resolveChatWrapper(model, { type });
const chat = new LlamaChat({ contextSequence: sequence, chatWrapper });
const seconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

for await (const line of createInterface({ input: process.stdin })) {
  const { systemPrompt, text, maxTokens, after } = JSON.parse(line);
  const history = [
    { type: 'system', text: systemPrompt },
    { type: 'user', text },
    { type: 'model', response: [] },
  ];
  const { contextText } = chatWrapper.generateContextState({ chatHistory: history });
  const promptTokens = contextText.tokenize(model.tokenizer).length;
  if (after !== undefined) {
    const tokens = [...contextText.tokenize(model.tokenizer), ...model.tokenize(after)];
    await sequence.clearHistory();
    const options = { temperature: 0, yieldEogToken: true };
    for await (const { probabilities } of sequence.evaluateWithMetadata(tokens, { probabilities: true }, options)) {
      const [best, second] = [...probabilities.values()];
      console.log(JSON.stringify({ gap: Math.log(best / second) }));
      break;
    }
    continue;
  }
  const startedAt = seconds();
  let first;
  let written = 0;
  const { response } = await chat.generateResponse(history, {
    maxTokens,
    temperature: 0,
    onToken: (tokens) => {
      written += tokens.length;
      first ??= seconds();
    },
  });
  const end = seconds();
  console.log(
    JSON.stringify({
      text: response,
      promptTokens,
      written,
      first: first - startedAt,
      all: end - startedAt,
      total: first,
    }),
  );
}
process.exit(0);
