// The TypeScript SDK as a client, in both protocol eras: list, call, read.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, key] = process.argv.slice(2);
const modes = { legacy: 'legacy', auto: 'auto', 'pinned 2026-07-28': { pin: '2026-07-28' } };
for (const [name, mode] of Object.entries(modes)) {
  const client = new Client({ name: 'judge', version: '1' }, { versionNegotiation: { mode } });
  const headers = { Authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const answer = await client.callTool({ name: 'semantic_search', arguments: { query: 'tokens' } });
  if (answer.isError || !answer.structuredContent.results.length) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  const refused = await client.callTool({ name: 'semantic_search', arguments: { query: '' } });
  if (!refused.isError) throw new Error(`${name}: an empty query was taken`);
  const { contents } = await client.readResource({ uri: 'trivium://chunk/1' });
  console.log(`${name}: ${tools.length} tools, ${answer.structuredContent.results.length} results, ${contents[0].text.length} characters`);
  await client.close();
}
