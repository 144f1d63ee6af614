import { parserJobs } from './parserJobs.ts';
import { serveJobs } from './serveJobs.ts';

// Program of the parser worker.
serveJobs(parserJobs);
