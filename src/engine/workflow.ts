import type { Run } from '../protocol/run.ts';

/** Who speaks to the model, besides the person. */
export interface Agent {
  id: string;
  name: string;
  instructions: string;
}

/** The plan a run follows. */
export interface Workflow {
  id: string;
  agent: Agent;
  /** Asked at a reply without tool calls: `Completed`, or the person's turn. */
  isComplete(run: Run): boolean;
}
