import { serveJobs } from './serveJobs.ts';
import { workerJobs } from './workerJobs.ts';

// Program of the parser worker.
serveJobs(workerJobs);
