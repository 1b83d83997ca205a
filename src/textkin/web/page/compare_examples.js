// Example pairs; each shows a property of the distance.

export const EXAMPLES = [
  {
    title: "No word in common",
    note: "but similar meaning",
    a: "Obama speaks to the media in Illinois",
    b: "The President greets the press in Chicago",
  },
  {
    title: "Different subjects",
    note: "all words are far apart",
    a: "The band gave a concert in Japan",
    b: "The court rejected the tax appeal",
  },
  {
    title: "The same words in another order",
    note: "word order is ignored: distance 0",
    a: "the dog chased the cat",
    b: "the cat chased the dog",
  },
  {
    title: "Two reports of one storm",
    note: "longer texts",
    a: "Heavy rain flooded the streets of the harbor town on Tuesday night. Firefighters pumped water out of cellars, and the ferry stayed in port until the wind dropped in the morning.",
    b: "After hours of strong showers the coastal city stood under water. Rescue crews emptied basements all night; boats could not leave before dawn, when the gale grew weaker.",
  },
];
