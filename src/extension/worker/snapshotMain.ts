import { serveJobs } from './serveJobs.ts';
import { snapshotJobs } from './snapshotJobs.ts';

// Program of the worker that records the files of the open folders.
serveJobs(snapshotJobs);
