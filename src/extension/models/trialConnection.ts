/** Unsaved address and key; without a key, the stored key of the address. */
export interface TrialConnection {
  baseUrl: string;
  apiKey?: string;
}

export interface ReadyOptions {
  quiet: true;
  trial?: TrialConnection;
}

export const addressIn = (trial: TrialConnection | undefined) => trial && { baseUrl: trial.baseUrl };
