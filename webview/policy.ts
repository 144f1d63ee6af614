import * as z from 'zod';

// First of all modules: schemas look at this when they are made. The policy of the page forbids making functions out of
// text, and even a try would be reported as a breach.
z.config({ jitless: true });
