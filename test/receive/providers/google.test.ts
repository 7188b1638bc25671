import { google } from '../../../src/receive/providers/google.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: google, credentials: [] });
