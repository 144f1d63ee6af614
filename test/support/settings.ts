/** What `providerSettings` reads, where a person has set nothing. */
export const noSettings = {
  providers: undefined,
  baseUrls: {},
  'endpoint.baseUrl': '',
  'azure.apiVersion': '',
  prices: {},
  'ollama.contextSize': 16_384,
};
