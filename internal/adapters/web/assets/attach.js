// Files that go with the next message: chosen, dropped or pasted, and taken back again.

import { parse } from "./dom.js";

const input = document.getElementById("file");
const button = document.getElementById("attach");
const list = document.getElementById("attached");
const sending = document.getElementById("sending");
const overlay = document.getElementById("drop");
const status = document.getElementById("status");
const text = document.getElementById("text");
const limit = (name) => Number(input.dataset[name]);

const size = (bytes) => {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  return bytes <= 1023 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${Math.ceil(bytes / 1048576)} MB`;
};
const count = (files) => `${files} ${files === 1 ? "file" : "files"}`;

let chosen = []; // what is attached: choosing again replaces the input's files

const keep = (files) => {
  const data = new DataTransfer();
  for (const file of files) data.items.add(file);
  input.files = data.files;
  chosen = [...input.files];
  show();
};

const show = () => {
  list.replaceChildren(
    ...chosen.map((file, at) => {
      const item = document.createElement("li");
      item.append(parse('<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M9.5 1.8H4a.8.8 0 0 0-.8.8v10.8c0 .5.4.8.8.8h8c.5 0 .8-.3.8-.8V5.1zM9.3 2v3.3h3.3"/></svg>'));
      const name = document.createElement("bdi");
      name.textContent = name.title = file.name;
      const bytes = document.createElement("small");
      bytes.textContent = size(file.size);
      const remove = document.createElement("button");
      remove.type = "button";
      remove.className = "icon";
      remove.ariaLabel = `Remove ${file.name}`;
      remove.append(parse('<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M4 4l8 8M12 4l-8 8"/></svg>'));
      remove.addEventListener("click", () => drop(at));
      item.append(name, bytes, remove);
      return item;
    }),
  );
  list.hidden = !chosen.length;
};

const drop = (at) => {
  const files = [...chosen];
  const [gone] = files.splice(at, 1);
  keep(files);
  status.textContent = `${gone.name} is removed. ${files.length ? `${count(files.length)} left.` : ""}`;
  (list.querySelectorAll("button")[Math.min(at, files.length - 1)] ?? button).focus();
};

// refuse says why files can't be added to those that are there, "" where they can.
const refuse = (there, fresh) => {
  const empty = fresh.find((file) => !file.size);
  if (empty) return `${empty.name} is empty, or it is a folder. Attach files with something in them.`;
  const large = fresh.find((file) => file.size > limit("file"));
  if (large) return `${large.name} is larger than ${size(limit("file"))}. Attach a smaller file, or a part of it.`;
  if (there.length + fresh.length > limit("files")) return `A message can have ${count(limit("files"))}. Send the others with another one.`;
  const all = [...there, ...fresh].reduce((sum, file) => sum + file.size, 0);
  if (all > limit("size")) return `The files are larger than ${size(limit("size"))} together. Send fewer of them at a time.`;
  return "";
};

const add = (fresh, complain) => {
  const problem = refuse(chosen, fresh);
  complain(problem);
  keep(problem ? chosen : [...chosen, ...fresh]);
  if (!problem && fresh.length) status.textContent = `${fresh.map((file) => file.name).join(", ")} attached. ${count(chosen.length)} to send.`;
  text.focus();
};

/** The files that go with the next message; none where none can be attached. */
export const attached = () => chosen;

/** Takes the files back, or puts those back that were not sent. */
export const attach = (files) => {
  if (input) keep(files);
};

/** Opens the browser's choice of files. */
export const chooseFiles = () => input?.click();

/** Sends a form with files, shows how far it is, and gives a response as fetch does. */
export const upload = (address, body) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const [bar, said, cancel] = sending.children;
    const end = (settle, value) => {
      sending.hidden = true;
      cancel.removeEventListener("click", stop);
      input.form.ariaBusy = null;
      settle(value);
    };
    const stop = () => request.abort();
    bar.value = 0;
    said.textContent = "0 %";
    sending.hidden = false;
    input.form.ariaBusy = "true";
    status.textContent = "Sending files";
    cancel.addEventListener("click", stop);
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      bar.value = event.loaded / event.total;
      said.textContent = `${Math.floor(bar.value * 100)} %`;
    });
    request.addEventListener("load", () => end(resolve, { ok: request.status < 300, json: () => JSON.parse(request.responseText) }));
    request.addEventListener("error", () => end(reject, new Error("unreachable")));
    request.addEventListener("abort", () => end(resolve, { ok: false, json: () => ({}) }));
    request.open("POST", address);
    request.setRequestHeader("Accept", "application/json");
    request.send(body);
  });

const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

export const handleAttachments = (complain) => {
  if (!input) return;
  input.form.classList.add("scripted");
  button.hidden = false;
  button.addEventListener("click", chooseFiles);
  keep([...input.files]);
  input.addEventListener("change", () => add([...input.files], complain));
  let inside = 0; // elements that something is dragged over, one in another
  const over = (by) => {
    inside = Math.max(0, inside + by);
    overlay.hidden = !inside;
  };
  addEventListener("dragenter", (event) => hasFiles(event) && over(1));
  addEventListener("dragleave", (event) => hasFiles(event) && over(-1));
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    over(-inside);
    add([...event.dataTransfer.files], complain);
  });
  text.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length || event.clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    add(files, complain);
  });
};
