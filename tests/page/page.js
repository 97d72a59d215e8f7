// page.js - the page in a real browser, by the protocol of its debugging pipe: no package is
// needed. Widths, dark and light, without JavaScript, console, keyboard alone.
//
//     node page.js CHROMIUM URL NODE FOLDER     FOLDER is new; pictures are left there
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const [chromium, url, node, folder] = process.argv.slice(2);
const browser = spawn(chromium, ['--headless', '--no-sandbox', '--disable-gpu',
  '--disable-background-networking', '--remote-debugging-pipe', `--user-data-dir=${folder}/profile`],
{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const waiting = new Map();
const said = [];
let loaded = () => {};
let number = 0, text = '', failed = 0;

browser.stdio[4].on('data', (bytes) => {
  text += bytes;
  const parts = text.split('\0');
  text = parts.pop();
  for (const part of parts) {
    const m = JSON.parse(part);
    if (m.id) { waiting.get(m.id)(m); waiting.delete(m.id); }
    if (m.method === 'Page.loadEventFired') loaded();
    if (m.method === 'Runtime.consoleAPICalled' || m.method === 'Runtime.exceptionThrown' ||
        m.method === 'Log.entryAdded') said.push(JSON.stringify(m.params));
  }
});
function ask(method, params, sessionId) {
  return new Promise((done, broken) => {
    waiting.set(++number, (m) => (m.error ? broken(new Error(method + ': ' + m.error.message))
      : done(m.result)));
    browser.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + '\0');
  });
}
function expect(right, what) {
  if (!right) { failed++; console.log('WRONG: ' + what); }
}

async function open(width, dark, script) {
  const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
  const call = (method, params) => ask(method, params || {}, sessionId);
  for (const domain of ['Page', 'Runtime', 'Log']) await call(domain + '.enable');
  await call('Emulation.setDeviceMetricsOverride',
    { width, height: 900, deviceScaleFactor: 1, mobile: false });
  await call('Emulation.setEmulatedMedia',
    { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  await call('Emulation.setScriptExecutionDisabled', { value: !script });
  const value = async (expression) =>
    (await call('Runtime.evaluate', { expression, awaitPromise: true })).result.value;
  const go = async (to) => {
    const there = new Promise((done) => { loaded = done; });
    await call('Page.navigate', { url: to });
    await there;
  };
  const close = () => ask('Target.closeTarget', { targetId });
  return { call, value, go, close };
}
async function key(page, name, code) {
  const event = { key: name, code: name, windowsVirtualKeyCode: code };
  if (name === 'Enter') event.text = '\r';
  await page.call('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
  await page.call('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
}

async function main() {
  for (const [width, dark] of [[360, false], [800, true], [1400, false]]) {
    const page = await open(width, dark, true);
    await page.go(`${url}?node=${node}`);
    expect(await page.value('document.documentElement.scrollWidth') <= width,
      `the page is wider than ${width}`);
    expect(await page.value('document.querySelectorAll("section").length') === 7, 'sections');
    const ground = await page.value('getComputedStyle(document.body).backgroundColor');
    expect((ground === 'rgb(255, 255, 255)') === !dark, `ground ${ground} at ${width}`);
    expect(await page.value('document.querySelectorAll("svg.net circle").length') > 1, 'net');
    const shot = await page.call('Page.captureScreenshot', { captureBeyondViewport: true });
    fs.writeFileSync(`${folder}/page-${width}.png`, Buffer.from(shot.data, 'base64'));
    await page.close();
  }
  const page = await open(1000, false, true); // the keyboard alone, and live renewal
  await page.go(url);
  let at = '';
  for (let i = 0; i < 40 && at !== 'ack'; i++) {
    await key(page, 'Tab', 9);
    at = await page.value('document.activeElement.value || ""');
  }
  expect(at === 'ack', 'no way to the button by Tab');
  expect(await page.value('getComputedStyle(document.activeElement).outlineStyle') === 'solid',
    'the focus is not seen');
  const there = new Promise((done) => { loaded = done; });
  await key(page, 'Enter', 13);
  await there;
  expect(await page.value('document.querySelector("#alerts h3").textContent') ===
    'Alert 1: acknowledged', 'the alert is not acknowledged');
  await page.value('fetch("/v1/alerts/1/dismiss", {method: "POST", body: "{}", headers: ' +
    '{"Content-Type": "application/json"}}).then((a) => a.status)');
  let state = '';
  for (let i = 0; i < 50 && state !== 'Alert 1: dismissed'; i++) {
    await new Promise((done) => setTimeout(done, 200));
    state = await page.value('document.querySelector("#alerts h3").textContent');
  }
  expect(state === 'Alert 1: dismissed', 'the page does not renew itself: ' + state);
  expect(said.length === 0, 'the console says ' + said.join('\n'));
  await page.close();
}
const limit = setTimeout(() => { console.log('WRONG: no end'); process.exit(1); }, 60000);
main().catch((e) => { failed++; console.log('WRONG: ' + e); }).finally(async () => {
  await ask('Browser.close').catch(() => {});
  clearTimeout(limit);
  process.exit(failed ? 1 : 0);
});
