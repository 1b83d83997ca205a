"""Small collection for exact expectations, with hostile texts."""

__all__ = ["DOCUMENTS", "HOSTILE", "LONG_WORDS"]

LONG_WORDS = 16_000

_KITCHEN = [
    "Boil the potatoes in salted water and mash them with butter and warm milk",
    "Bake the bread in a hot oven until the crust is brown and the loaf sounds hollow",
    "Chop the onions, fry them in olive oil and add tomatoes, garlic and basil",
    "Whisk eggs with sugar, fold in the flour and bake the cake for forty minutes",
    "Grill the fish with lemon and serve it with rice and green beans",
    "Knead the dough, let it rest in a warm place and roll it out thinly",
    "Simmer the soup slowly, then season it with pepper, salt and parsley",
    "Melt the chocolate, stir in the cream and let the dessert cool",
]
_SPACE = [
    "The probe left the orbit of the planet and sent pictures of its moons",
    "Astronauts repaired the telescope during a long walk outside the station",
    "The rocket carried a satellite that measures the oceans of the earth",
    "Light from the distant galaxy needed billions of years to reach the telescope",
    "The lander touched the surface of the comet and drilled into its ice",
    "Engineers tested the engine of the rocket before the launch of the probe",
    "The crew of the station grew vegetables and watched the sun rise every hour",
    "A small planet was found around a star that is cooler than the sun",
]
_SPORT = [
    "The striker scored twice and the team won the match after extra time",
    "The runner finished the marathon in the rain and set a national record",
    "The coach changed the defence and the players kept the ball for longer",
    "She served well, won the first set and lost the match in the third",
    "The goalkeeper saved a penalty in the last minute of the final",
    "Cyclists climbed the mountain in heat and the leader lost three minutes",
    "The swimmer trained before sunrise and won a medal over two hundred metres",
    "Fans sang all night after the team had won the cup for the first time",
]

HOSTILE = [
    {
        "id": "<script>alert('id')</script>",
        "text": "hostile <script>window.broken = true</script> <img src=x onerror=alert(1)> markup",
        "label": "<b>bold</b>",
        "title": "<i>title</i> \"quoted\" & 'more'",
        "year": 1999,
    },
    {
        "id": "مستند",
        "text": "مرحبا بالعالم hostile نص من اليمين إلى اليسار\nשלם עלם\nplain english line",
        "lang": "ar",
    },
    {
        "id": "emoji 👩‍👩‍👧‍👦 \u202e reversed",
        "text": "hostile 👩‍👩‍👧‍👦 🏳️‍🌈 family flag \u202eturned around\u202c " + "x" * 400,
    },
    {"id": "long", "text": "hostile " + "word sense " * LONG_WORDS, "lang": "en"},
]


def _labelled(label: str, texts: list[str]) -> list[dict[str, object]]:
    return [
        {
            "id": f"{label}/{number}",
            "text": text,
            "label": label,
            "year": 2010 + number,
            "lang": "en" if number % 2 else "de",
        }
        for number, text in enumerate(texts, 1)
    ]


DOCUMENTS = [
    *_labelled("kitchen", _KITCHEN),
    *_labelled("space", _SPACE),
    *_labelled("sport", _SPORT),
    *HOSTILE,
]
