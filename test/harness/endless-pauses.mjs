// Loaded into a process (`--import`) in which no pause of 8 s or more ends within a test: what happens then was caused by an event.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const longMs = 8_000;
const endlessMs = 3_600_000;
const { setTimeout: pause } = timers;

timers.setTimeout = (ms, ...rest) => pause(ms >= longMs ? endlessMs : ms, ...rest);
syncBuiltinESMExports();
