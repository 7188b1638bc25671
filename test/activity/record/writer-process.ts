/** A process that writes the record without end, and without a lease, until it is killed. Arguments: the URL of Redis, the prefix, the folder. */
import { createFolderStore } from '../../../src/activity/record/folder-store.ts';
import { writeRecord } from '../../../src/activity/record/write-record.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createOutbox } from '../../../src/service/queue/outbox.ts';
import { factsOf } from './facts.ts';

const [url = '', prefix = '', folder = ''] = process.argv.slice(2);
const redis = connectWorker(url);
const ports = { outbox: createOutbox(redis, prefix), store: createFolderStore(folder), describe: factsOf, source: '/test' };
process.stdout.write('ready\n');
for (;;) await writeRecord(ports, new AbortController().signal);
